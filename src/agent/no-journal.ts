// A journal that keeps nothing: for runs without a session.

import type { Journal } from "./ports";

export const noJournal: Journal = {
  append: () => undefined,
};
