// Builds an agent and all it stands on, by hand and in order; whoever built it closes it.

import { homedir, release, tmpdir } from "node:os";
import { join } from "node:path";
import {
  Agent,
  type AgentOptions,
  composeSystemPrompt,
  noJournal,
  type Verification,
} from "#agent";
import type { Model } from "#agent/ports";
import { createScrubber, type Scrubber } from "#base/kit";
import {
  createPrivateDirectory,
  hideCredentials,
  removeStaleDirectories,
  systemClock,
} from "#base/os";
import { type AgentHandle, makeSessionId } from "#base/protocol";
import type { Workspace } from "#capabilities/exec";
import { createChatModel } from "#capabilities/models";
import type { PolicyRule } from "#capabilities/policy";
import { type ArtifactStore, createArtifactStore } from "#stores/artifacts";
import { splitCommands } from "./commands-text";
import type { Configuration } from "./config";
import { SECRET_VARIABLES } from "./config/settings";
import { withDebugDumps } from "./debug-dump";
import { loadGrammar } from "./grammar";
import { createGuard, type Guard } from "./guard";
import { isInsideRepository, readInstructions } from "./instructions";
import type { Endpoint } from "./invocation";
import { LateHands } from "./late-hands";
import { createLazyPolicy, type LazyPolicy } from "./policy";
import { ARTIFACTS_DIRECTORY, projectDirectory } from "./project";
import { readPolicyRules } from "./rules";
import { openSandbox, type RunSandbox } from "./sandbox";
import { withSessions } from "./sessions/host";
import { type Session, SessionKeeper } from "./sessions/keeper";
import type { Mirroring } from "./sessions/mirroring";
import { routeOf } from "./sessions/route";
import { toolSpecifications } from "./specifications" with { type: "macro" };

export interface WireOptions {
  configuration: Configuration;
  cwd: string;
  endpoint: Endpoint;
  /** Whether somebody is there to approve. */
  isAttended: boolean;
  /** Whether the conversation is kept beyond the run. */
  keepsSession: boolean;
}

export interface Wired {
  agent: AgentHandle;
  /** Ends every process and removes every temporary file. */
  close(): Promise<void>;
}

/** The first request goes out first. No reply is handed on before credentials are hidden. */
const HIDING_DELAY_MS = 20;

/** Housekeeping waits until the first request is on its way. */
const IDLE_WORK_DELAY_MS = 150;

export async function wire(options: WireOptions): Promise<Wired> {
  const { configuration, cwd } = options;
  const scrubber = createScrubber(secretsOf(configuration));
  const temporary = createPrivateDirectory();
  const guard = createGuard(temporary.path);
  const hidden = Bun.sleep(HIDING_DELAY_MS).then(() => {
    // Before the walls are measured: from outside of them it is out of every command's reach.
    guard.watchdog.start();
    return hideCredentials({ names: SECRET_VARIABLES, flags: ["--api-key"] });
  });
  const sandbox = await openSandbox(options, { delayMs: HIDING_DELAY_MS });
  const workspace: Workspace = { root: cwd, cwd };
  const keeper = options.keepsSession ? makeKeeper(options, workspace) : undefined;
  const artifacts = createArtifactStore(
    keeper ? join(projectDirectory(configuration.home, cwd), ARTIFACTS_DIRECTORY) : temporary.path,
  );
  const { session, mirroring, told } = await startSession(keeper, options);
  for (const text of told) process.stderr.write(`bosun: ${text}\n`);
  const policy = policyOf(options, await readPolicyRules(configuration));
  const temporaryPath = temporary.path;
  const hands = makeHands({
    ...options,
    workspace,
    policy,
    scrubber,
    sandbox,
    guard,
    artifacts,
    temporaryPath,
  });
  const agent = new Agent(
    agentOptions({
      ...options,
      policy,
      scrubber,
      hidden,
      sandbox,
      hands,
      workspace,
      session,
    }),
  );
  mirroring?.follow(agent);
  guard.follow(agent, { isKept: keeper !== undefined });
  const idle = setTimeout(() => {
    void policy.load();
    void Promise.all([hands.load(), sandbox.measured]).then(([{ runner }]) => runner.warmUp());
    removeStaleDirectories();
  }, IDLE_WORK_DELAY_MS);
  return {
    agent: withSessions(agent, keeper, mirroring),
    async close() {
      clearTimeout(idle);
      mirroring?.close();
      keeper?.close();
      await hands.close();
      sandbox.close();
      temporary.remove();
      await guard.watchdog.close();
    },
  };
}

interface HandsParts extends WireOptions {
  workspace: Workspace;
  policy: LazyPolicy;
  scrubber: Scrubber;
  sandbox: RunSandbox;
  guard: Guard;
  artifacts: ArtifactStore;
  temporaryPath: string;
}

function makeHands(parts: HandsParts): LateHands {
  const { configuration, cwd, workspace, policy, sandbox, guard, artifacts } = parts;
  const { settings } = configuration;
  return new LateHands(async () => {
    const { createHands } = await import("./hands");
    return createHands({
      workspace,
      artifacts,
      outputBytesMax: settings.maxOutputBytes,
      mayRead: (path) => policy.mayRead(path),
      isReadOnly: (command, at) => policy.isReadOnly(command, at),
      commands: {
        root: cwd,
        temporary: parts.temporaryPath,
        artifacts,
        scrubber: parts.scrubber,
        secretNames: SECRET_VARIABLES,
        timeoutMs: settings.timeout * 1000,
        outputBytesMax: settings.maxOutputBytes,
        launcher: () => sandbox.launcher(),
        runMark: guard.runMark,
        watch: guard.watchdog,
      },
    });
  });
}

interface Parts extends WireOptions {
  policy: LazyPolicy;
  scrubber: Scrubber;
  hidden: Promise<unknown>;
  sandbox: RunSandbox;
  hands: LateHands;
  workspace: Workspace;
  session: Session;
}

function agentOptions(parts: Parts): AgentOptions {
  const { configuration, cwd, scrubber, hands } = parts;
  const { settings } = configuration;
  const { policy, workspace, session } = parts;
  const specifications = toolSpecifications();
  return {
    id: "main",
    ...session,
    model: createModel(parts, session.session),
    tools: () => hands.tools,
    specifications: settings.fast ? specifications.brief : specifications.whole,
    understand: (name, args) => hands.understand(name, args),
    approver: policy.approver,
    clock: systemClock,
    systemPrompt: systemPrompt(configuration, cwd),
    sandbox: parts.sandbox.state,
    stepsMax: settings.maxSteps,
    replyTokensMax: settings.maxTokens,
    cwd: () => workspace.cwd,
    verify: verifier(hands, settings.verify, cwd),
    takeNews: () => hands.takeNews(),
    watchJobs: (tell) => hands.watchJobs(tell),
    scrub: (text) => scrubber.text(text),
    scrubStream: () => {
      const stream = scrubber.stream();
      return { push: (text) => stream.write(text), end: () => stream.end() };
    },
  };
}

function makeKeeper(
  { configuration, cwd, endpoint }: WireOptions,
  workspace: Workspace,
): SessionKeeper {
  return new SessionKeeper({
    home: configuration.home,
    workspace: cwd,
    route: routeOf(endpoint.apiBase),
    model: endpoint.model,
    cwd: () => workspace.cwd,
    setCwd: (path) => {
      workspace.cwd = path;
    },
  });
}

interface Started {
  session: Session;
  mirroring?: Mirroring;
  told: readonly string[];
}

/** A file is kept beside the store only for who asked for a session by name. */
async function startSession(
  keeper: SessionKeeper | undefined,
  { configuration, cwd, endpoint }: WireOptions,
): Promise<Started> {
  const { session: file, resume } = configuration.settings;
  if (!keeper) {
    return { session: { session: makeSessionId(Date.now()), journal: noJournal }, told: [] };
  }
  if (file === undefined && resume === undefined) {
    return { session: await keeper.begin(), told: keeper.notices };
  }
  const { startMirroring } = await import("./sessions/mirroring");
  const { model, apiBase } = endpoint;
  const mirroring = await startMirroring({ keeper, directory: cwd, file, resume, model, apiBase });
  return {
    session: mirroring.session,
    mirroring,
    told: [...keeper.notices, ...mirroring.told],
  };
}

function policyOf(
  { configuration, cwd, isAttended }: WireOptions,
  rules: PolicyRule[],
): LazyPolicy {
  const { settings, home } = configuration;
  return createLazyPolicy({
    home,
    userHome: homedir(),
    extraReadOnly: splitCommands(settings.readOnlyCommands),
    loadGrammar,
    workspace: { root: cwd },
    rules,
    confirmReads: settings.confirmReads,
    autoApprove: settings.autoApprove || settings.auto,
    attended: isAttended,
    disposable: false,
  });
}

function systemPrompt({ settings }: Configuration, cwd: string): string {
  return composeSystemPrompt({
    fast: settings.fast,
    cwd,
    platform: `${process.platform} ${release()}`,
    day: new Date().toISOString().slice(0, 10),
    isGitRepository: isInsideRepository(cwd),
    verifyCommand: settings.verify,
    instructions: readInstructions(cwd),
  });
}

/** Values that must appear nowhere: the key in use, and every credential of the environment. */
function secretsOf({ settings }: Configuration): string[] {
  const values = [settings.apiKey, ...SECRET_VARIABLES.map((name) => process.env[name])];
  return [...new Set(values.filter((value) => value !== undefined && value !== ""))] as string[];
}

function createModel(parts: Parts, session: string): Model {
  const { configuration, endpoint, scrubber } = parts;
  const { settings, home } = configuration;
  const model = createChatModel({
    ...endpoint,
    maxTokens: settings.maxTokens,
    temperature: settings.temperatureTool,
    reasoningEffort: settings.reasoningEffort,
    streamOptions: settings.streamOptions,
    extraBody: settings.extraBody,
    clock: systemClock,
  });
  const waiting = withReplyAfter(model, parts);
  if (!settings.debug) return waiting;
  const chosen = settings.debugDumpDirectory;
  return withDebugDumps(waiting, {
    directories: chosen === undefined ? [join(home, "debug"), tmpdir()] : [chosen],
    session,
    scrub: (text) => scrubber.text(text),
  });
}

/**
 * No reply is handed on before credentials are out of sight of what it may ask to run, before the
 * walls around that are measured, and before there are tools. What the owner must know of the walls
 * is told once.
 */
function withReplyAfter(model: Model, { hidden, sandbox, hands }: Parts): Model {
  let isTold = false;
  return {
    name: model.name,
    async *stream(request, signal) {
      for await (const event of model.stream(request, signal)) {
        if (event.kind === "reply") {
          const [text] = await Promise.all([sandbox.measured, hidden, hands.load()]);
          if (text !== undefined && !isTold) yield { kind: "notice", level: "warning", text };
          isTold = true;
        }
        yield event;
      }
    },
  };
}

function verifier(
  hands: LateHands,
  command: string | undefined,
  cwd: string,
): ((signal: AbortSignal) => Promise<Verification>) | undefined {
  if (command === undefined) return undefined;
  return async (signal) => (await hands.load()).verify(command, cwd, signal);
}
