// What docs/ says of the program is what the program says.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventSchemaPage } from "../scripts/event-schema";
import { settingsPage } from "../src/app/config/help";

const page = (name: string): string =>
  readFileSync(join(import.meta.dir, "..", "docs", name), "utf8");

test("docs/settings.md is the table of settings", () => {
  expect(page("settings.md")).toBe(settingsPage());
});

test("docs/events.schema.json is the schema of the events", () => {
  expect(page("events.schema.json")).toBe(eventSchemaPage());
});
