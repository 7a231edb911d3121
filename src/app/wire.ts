// Builds an agent and all it stands on, by hand and in order; whoever built it closes it.

import { homedir, release, tmpdir } from "node:os";
import { join } from "node:path";
import {
  Agent,
  type AgentOptions,
  composeSystemPrompt,
  type JobNews,
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
import {
  type CommandRunner,
  CREDENTIAL_NAMES,
  createCommandRunner,
  type Job,
  runVerification,
  type Workspace,
} from "#capabilities/exec";
import { createChatModel } from "#capabilities/models";
import type { PolicyRule } from "#capabilities/policy";
import { toSpecification, understandCall } from "#capabilities/tools";
import { type ArtifactStore, createArtifactStore } from "#stores/artifacts";
import { splitCommands } from "./commands-text";
import type { Configuration } from "./config";
import { SECRET_VARIABLES } from "./config/settings";
import { withDebugDumps } from "./debug-dump";
import { loadGrammar } from "./grammar";
import { isInsideRepository, readInstructions } from "./instructions";
import type { Endpoint } from "./invocation";
import { createLazyPolicy, type LazyPolicy } from "./policy";
import { ARTIFACTS_DIRECTORY, projectDirectory } from "./project";
import { readPolicyRules } from "./rules";
import { openSandbox, type RunSandbox } from "./sandbox";
import { withSessions } from "./sessions/host";
import { type Session, SessionKeeper } from "./sessions/keeper";
import type { Mirroring } from "./sessions/mirroring";
import { routeOf } from "./sessions/route";
import { createTools } from "./tools";

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
  const { settings } = configuration;
  const scrubber = createScrubber(secretsOf(configuration));
  const hidden = Bun.sleep(HIDING_DELAY_MS).then(() =>
    hideCredentials({ names: SECRET_VARIABLES, flags: ["--api-key"] }),
  );
  const sandbox = await openSandbox(options, { delayMs: HIDING_DELAY_MS });
  const temporary = createPrivateDirectory();
  const workspace: Workspace = { root: cwd, cwd };
  const keeper = options.keepsSession ? makeKeeper(options, workspace) : undefined;
  const artifacts = createArtifactStore(
    keeper ? join(projectDirectory(configuration.home, cwd), ARTIFACTS_DIRECTORY) : temporary.path,
  );
  const runner = createCommandRunner({
    root: cwd,
    temporary: temporary.path,
    artifacts,
    scrubber,
    secretNames: [...CREDENTIAL_NAMES, ...SECRET_VARIABLES],
    timeoutMs: settings.timeout * 1000,
    outputBytesMax: settings.maxOutputBytes,
    launcher: () => sandbox.launcher(),
  });
  const { session, mirroring, told } = await startSession(keeper, options);
  for (const text of told) process.stderr.write(`bosun: ${text}\n`);
  const policy = policyOf(options, await readPolicyRules(configuration));
  const agent = new Agent(
    agentOptions({
      ...options,
      policy,
      scrubber,
      hidden,
      sandbox,
      runner,
      artifacts,
      workspace,
      session,
    }),
  );
  mirroring?.follow(agent);
  const idle = setTimeout(() => {
    void policy.load();
    void sandbox.measured.then(() => runner.warmUp());
    removeStaleDirectories();
  }, IDLE_WORK_DELAY_MS);
  return {
    agent: withSessions(agent, keeper, mirroring),
    async close() {
      clearTimeout(idle);
      mirroring?.close();
      keeper?.close();
      await runner.close();
      sandbox.close();
      temporary.remove();
    },
  };
}

interface Parts extends WireOptions {
  policy: LazyPolicy;
  scrubber: Scrubber;
  hidden: Promise<unknown>;
  sandbox: RunSandbox;
  runner: CommandRunner;
  artifacts: ArtifactStore;
  workspace: Workspace;
  session: Session;
}

function agentOptions(parts: Parts): AgentOptions {
  const { configuration, cwd, scrubber, runner } = parts;
  const { settings } = configuration;
  const { policy, workspace, session } = parts;
  const tools = createTools({
    workspace,
    runner,
    artifacts: parts.artifacts,
    outputBytesMax: settings.maxOutputBytes,
    mayRead: (path) => policy.mayRead(path),
    isReadOnly: (command, at) => policy.isReadOnly(command, at),
  });
  return {
    id: "main",
    ...session,
    model: createModel(parts, session.session),
    tools,
    specifications: tools.map((tool) => toSpecification(tool, { brief: settings.fast })),
    understand: understandCall,
    approver: policy.approver,
    clock: systemClock,
    systemPrompt: systemPrompt(configuration, cwd),
    sandbox: parts.sandbox.state,
    stepsMax: settings.maxSteps,
    replyTokensMax: settings.maxTokens,
    cwd: () => workspace.cwd,
    verify: verifier(runner, settings.verify, cwd),
    takeNews: () => runner.jobs.drainNews().map(describeJob),
    watchJobs: (tell) => runner.jobs.onChange((job) => tell(jobNews(job))),
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
 * No reply is handed on before credentials are out of sight of what it may ask to run, and before
 * the walls around that are measured. What the owner must know of them is told once.
 */
function withReplyAfter(model: Model, { hidden, sandbox }: Parts): Model {
  let isTold = false;
  return {
    name: model.name,
    async *stream(request, signal) {
      for await (const event of model.stream(request, signal)) {
        if (event.kind === "reply") {
          const [text] = await Promise.all([sandbox.measured, hidden]);
          if (text !== undefined && !isTold) yield { kind: "notice", level: "warning", text };
          isTold = true;
        }
        yield event;
      }
    },
  };
}

function verifier(
  runner: CommandRunner,
  command: string | undefined,
  cwd: string,
): ((signal: AbortSignal) => Promise<Verification>) | undefined {
  if (command === undefined) return undefined;
  return (signal) => runVerification({ runner, command, cwd, signal });
}

function jobNews({ id, state, exitCode, tail }: Job): JobNews {
  return { type: "job", id, state, exitCode, tail };
}

function describeJob({ id, command, state, exitCode, tail, logFile }: Job): string {
  const end = state === "killed" ? "was killed" : `ended with exit status ${exitCode ?? "unknown"}`;
  return `[Background job ${id} ${end}: ${command}]\n${tail}\n[whole log: ${logFile}]`;
}
