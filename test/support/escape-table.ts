// A table of attempts as tests: behind the walls each must be stopped, without them go through.

import { beforeAll, describe, expect, test } from "bun:test";
import {
  type Attempt,
  isPlayable,
  isRoot,
  type Played,
  type PlayOptions,
  play,
  verdictOf,
} from "./escape";

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
      // What this machine has no means for is skipped, and shown as such.
      test.skipIf(!isPlayable(attempt, { isWalled: true }))(attempt.name, () =>
        judge(attempt, { walled, bare, walls: options.walls ?? [] }),
      );
    }
  });
}

function judge(
  attempt: Attempt,
  { walled, bare, walls }: { walled: Played; bare: Played | undefined; walls: readonly string[] },
): void {
  const { name, limit, noControl } = attempt;
  const verdict = verdictOf(walled, attempt);
  expect(verdict).not.toBe("not played");
  const isOff = walled.state === "off";
  const down = isOff ? walls : walls.filter((wall) => walled.missing.includes(wall));
  if (limit !== undefined || isOff || down.length > 0) {
    const why = limit ?? `this machine has no wall for ${down.join(", ")}, and the run says so`;
    console.warn(`known limit: ${name}: ${why}`);
    if (attempt.isRootOnly && !isRoot) return;
    // When this fails a limit is gone: then it leaves SECURITY.md, too.
    if (limit !== undefined) expect(verdict).toBe("went through");
    // Where a wall is down it must be as without walls: neither better nor worse than was said.
    else if (bare && noControl === undefined) expect(verdict).toBe(verdictOf(bare, attempt));
    return;
  }
  expect(verdict).toBe("stopped");
  if (noControl !== undefined || (attempt.isRootOnly && !isRoot)) return;
  if (bare)
    expect(`without walls: ${verdictOf(bare, attempt)}`).toBe("without walls: went through");
}
