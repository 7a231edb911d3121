// A table of attempts as tests: behind the walls each must be stopped, without them go through.

import { beforeAll, describe, expect, test } from "bun:test";
import { type Attempt, isRoot, type Played, type PlayOptions, play, verdictOf } from "./escape";

const RUN_MS_MAX = 40_000;

export interface TableOptions extends Omit<PlayOptions, "isWalled"> {
  /** The walls that hold these attempts, in the words of `missingWalls`. */
  walls?: readonly string[];
}

export function describeEscapes(
  title: string,
  attempts: readonly Attempt[],
  options: TableOptions = {},
): void {
  describe.skipIf(process.platform !== "linux")(title, () => {
    let walled: Played;
    let bare: Played | undefined;
    beforeAll(async () => {
      const hasControl = attempts.some(({ noControl }) => noControl === undefined);
      [walled, bare] = await Promise.all([
        play(attempts, { ...options, isWalled: true }),
        hasControl ? play(attempts, { ...options, isWalled: false }) : undefined,
      ]);
    }, RUN_MS_MAX);

    test("the runs lived to their ends", () => {
      expect([walled.isWhole, walled.exit, bare?.isWhole ?? true]).toEqual([true, 0, true]);
    });

    for (const attempt of attempts) {
      test(attempt.name, () => judge(attempt, { walled, bare, walls: options.walls ?? [] }));
    }
  });
}

function judge(
  attempt: Attempt,
  { walled, bare, walls }: { walled: Played; bare: Played | undefined; walls: readonly string[] },
): void {
  const { name, limit, noControl } = attempt;
  const verdict = verdictOf(walled, attempt);
  if (verdict === "not played") {
    console.warn(
      `not tried, ${[...(attempt.needs ?? []), ...(attempt.oneOf ?? [])].join(" or ")} is not here: ${name}`,
    );
    return;
  }
  if (walled.state === "off") {
    console.warn(`this kernel has no walls, and the run says so: ${name}`);
    return;
  }
  const down = walls.filter((wall) => walled.missing.includes(wall));
  if (limit !== undefined || down.length > 0) {
    const why = limit ?? `this machine has no wall for ${down.join(", ")}, and the run says so`;
    console.warn(`known limit: ${name}: ${why}`);
    if (attempt.isRootOnly && !isRoot) return;
    // When this fails a limit is gone: then it leaves SECURITY.md, too.
    if (limit !== undefined) expect(verdict).toBe("went through");
    return;
  }
  expect(verdict).toBe("stopped");
  if (noControl !== undefined || (attempt.isRootOnly && !isRoot)) return;
  if (bare)
    expect(`without walls: ${verdictOf(bare, attempt)}`).toBe("without walls: went through");
}
