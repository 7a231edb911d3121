// The sandbox of a run: finds out what the kernel has, measures the walls, and gives the words that
// put a command behind them. Falls closed: without a measured wall around files there are no words.

import { readFileSync } from "node:fs";
import { type Kernel, loadKernel } from "#base/os";
import { isWithin, type SandboxPolicy } from "./policy";
import { type ProbeResult, probeWalls } from "./probe";
import { canDenyTcp, canScopeSockets } from "./rights";
import { seatbeltWords } from "./seatbelt";
import { coverable, type Means, presentProtected, sandboxImage } from "./tape";
import type { Wall, Walls } from "./walls";

export interface SandboxOptions {
  policy: SandboxPolicy;
  /** Keeps this very thread, and so all that it starts, from signals to others. For good. */
  confineSignals: boolean;
}

export interface Sandbox {
  /** `off` where the system has nothing to build walls of: commands run without. */
  readonly state: "on" | "off";
  /** Tries the walls, once. Never rejects. To be awaited before the first command. */
  measure(): Promise<Walls>;
  /**
   * The words in front of a command; none when the state is off. Throws when the walls were not
   * measured, or when the wall around files was seen not to stand.
   */
  launcher(): readonly string[];
  close(): void;
}

const STANDS: Wall = { stands: true };
const NO_LANDLOCK = "this kernel has no Landlock, or it is switched off";

const CAP_SETPCAP = 8n;
const CAP_SYS_ADMIN = 21n;

/** Never throws. */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  if (process.platform === "darwin") return new SeatbeltSandbox(options);
  const kernel = await loadKernel();
  if (kernel && kernel.landlockAbi > 0) return new LandlockSandbox(options, kernel);
  return withoutWalls(process.platform === "linux" ? NO_LANDLOCK : "not on this system");
}

function withoutWalls(reason: string): Sandbox {
  return {
    state: "off",
    measure: () => Promise.resolve(noWalls(0, reason)),
    launcher: () => [],
    close: () => undefined,
  };
}

function noWalls(abi: number, reason: string): Walls {
  const wall: Wall = { stands: false, reason };
  const [filesystem, hidden, protectedPaths] = [wall, wall, wall];
  return { abi, filesystem, hidden, protectedPaths, processes: wall, signals: wall, ipc: wall };
}

class LandlockSandbox implements Sandbox {
  readonly state = "on";
  readonly #options: SandboxOptions;
  readonly #kernel: Kernel;
  #means: Means;
  #measuring: Promise<Walls> | undefined;
  /** Why there are no words; undefined once the walls were measured and stand. */
  #refusal: string | undefined = "its walls were not measured yet";
  #made: { key: string; path: string; close(): void } | undefined;

  constructor(options: SandboxOptions, kernel: Kernel) {
    this.#options = options;
    this.#kernel = kernel;
    this.#means = {
      abi: kernel.landlockAbi,
      namespaces: hasCapability(CAP_SYS_ADMIN) ? "privileged" : "user",
      userId: process.getuid?.() ?? 0,
      groupId: process.getgid?.() ?? 0,
      mayDropCapabilities: hasCapability(CAP_SETPCAP),
    };
  }

  measure(): Promise<Walls> {
    this.#measuring ??= this.#measure();
    return this.#measuring;
  }

  launcher(): readonly string[] {
    if (this.#refusal !== undefined) {
      throw new Error(`the sandbox cannot be used: ${this.#refusal}`);
    }
    return this.#words();
  }

  close(): void {
    this.#refusal = "it was closed";
    this.#made?.close();
    this.#made = undefined;
  }

  /** Made anew when what is to be protected has appeared or gone. */
  #words(): readonly string[] {
    const { policy } = this.#options;
    const key = [this.#means.namespaces, ...presentProtected(policy), ...coverable(policy)].join(
      "\0",
    );
    if (this.#made?.key === key) return [this.#made.path];
    const image = sandboxImage(policy, this.#means);
    const made = image && this.#kernel.makeExecutable(image);
    if (!made) throw new Error("the sandbox cannot be used: no launcher can be made here");
    this.#made?.close();
    this.#made = { key, ...made };
    return [made.path];
  }

  async #measure(): Promise<Walls> {
    const { confineSignals } = this.#options;
    const isConfined = confineSignals && this.#kernel.confineSignals();
    let mountsReason: string | undefined;
    let result = await this.#probe();
    if (result.kind === "failed") {
      // Without mounts the other walls may stand still.
      mountsReason = result.reason;
      this.#means = { ...this.#means, namespaces: "none" };
      result = await this.#probe();
    }
    if (result.kind === "failed") this.#refusal = result.reason;
    else if (result.open.has("filesystem")) this.#refusal = "a forbidden write went through";
    else this.#refusal = undefined;
    return this.#judge(result, { mountsReason, isConfined });
  }

  #probe(): Promise<ProbeResult> {
    const { policy } = this.#options;
    try {
      const launcher = this.#words();
      const hidden = coverable(policy)[0];
      return probeWalls({ launcher, policy, hidden, protectedPath: presentProtected(policy)[0] });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return Promise.resolve({ kind: "failed", reason });
    }
  }

  #judge(
    result: ProbeResult,
    { mountsReason, isConfined }: { mountsReason: string | undefined; isConfined: boolean },
  ): Walls {
    const { abi, namespaces } = this.#means;
    if (result.kind === "failed") return noWalls(abi, result.reason);
    const { open } = result;
    const needsMounts = (name: "hidden" | "protectedPaths"): Wall => {
      if (namespaces === "none") return { stands: false, reason: mountsReason ?? "no mounts" };
      return open.has(name) ? { stands: false, reason: "an attempt went through" } : STANDS;
    };
    const { policy } = this.#options;
    const isUncovered = policy.hidden.some((path) => isWithin(policy.workspace, path));
    const hidden: Wall = isUncovered
      ? { stands: false, reason: "the workspace lies in it" }
      : needsMounts("hidden");
    const signals: Wall = isConfined
      ? STANDS
      : { stands: false, reason: "this kernel cannot, or not for a program with threads" };
    return {
      abi,
      filesystem: open.has("filesystem")
        ? { stands: false, reason: "a forbidden write went through" }
        : STANDS,
      hidden,
      protectedPaths: needsMounts("protectedPaths"),
      processes: open.has("processes")
        ? { stands: false, reason: "an attempt went through" }
        : STANDS,
      signals:
        isConfined && open.has("signals")
          ? { stands: false, reason: "an attempt went through" }
          : signals,
      ipc: canScopeSockets(abi) ? STANDS : { stands: false, reason: `Landlock ${abi} cannot` },
      ...(policy.network === "none" ? { network: this.#networkWall() } : {}),
    };
  }

  #networkWall(): Wall {
    const { abi, namespaces } = this.#means;
    if (namespaces !== "none") return STANDS;
    const reason = canDenyTcp(abi) ? "only TCP is shut" : `Landlock ${abi} cannot`;
    return { stands: false, reason };
  }
}

/** Exec'ing `sandbox-exec` puts the whole policy in place; it is measured in the same way. */
class SeatbeltSandbox implements Sandbox {
  readonly state = "on";
  readonly #policy: SandboxPolicy;
  #measuring: Promise<Walls> | undefined;
  #refusal: string | undefined = "its walls were not measured yet";

  constructor({ policy }: SandboxOptions) {
    this.#policy = policy;
  }

  measure(): Promise<Walls> {
    this.#measuring ??= this.#measure();
    return this.#measuring;
  }

  launcher(): readonly string[] {
    if (this.#refusal !== undefined) {
      throw new Error(`the sandbox cannot be used: ${this.#refusal}`);
    }
    return seatbeltWords(this.#policy);
  }

  close(): void {
    this.#refusal = "it was closed";
  }

  async #measure(): Promise<Walls> {
    const policy = this.#policy;
    const launcher = seatbeltWords(policy);
    const [hidden, protectedPath] = [coverable(policy)[0], presentProtected(policy)[0]];
    const result = await probeWalls({ launcher, policy, hidden, protectedPath });
    if (result.kind === "failed") {
      this.#refusal = result.reason;
      return noWalls(0, result.reason);
    }
    const isShut = (name: "filesystem" | "hidden" | "protectedPaths" | "signals"): Wall =>
      result.open.has(name) ? { stands: false, reason: "an attempt went through" } : STANDS;
    this.#refusal = result.open.has("filesystem") ? "a forbidden write went through" : undefined;
    return {
      abi: 0,
      filesystem: isShut("filesystem"),
      hidden: isShut("hidden"),
      protectedPaths: isShut("protectedPaths"),
      processes: STANDS,
      signals: isShut("signals"),
      ipc: STANDS,
      ...(policy.network === "none" ? { network: STANDS } : {}),
    };
  }
}

function hasCapability(capability: bigint): boolean {
  try {
    const status = readFileSync("/proc/self/status", "latin1");
    const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0";
    return ((BigInt(`0x${effective}`) >> capability) & 1n) === 1n;
  } catch {
    // No /proc: then a user namespace is tried, and measured.
    return false;
  }
}
