import { expect, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MirrorError, takeMirror } from "../mirror";
import { INSTANCES_MAX, numbered } from "./claim";

const SOURCE = join(import.meta.dir, "..", "mirror");

function temporary() {
  const directory = mkdtempSync(join(tmpdir(), "bosun-claim-test-"));
  const path = (...names: string[]) => join(directory, ...names);
  return { directory, path, [Symbol.dispose]: () => rmSync(directory, { recursive: true }) };
}

async function refusal(options: Parameters<typeof takeMirror>[0]): Promise<string> {
  const outcome = await takeMirror(options).catch((error: unknown) => error);
  if (!(outcome instanceof MirrorError)) throw new Error(`no refusal: ${String(outcome)}`);
  expect(outcome.message).not.toContain("\n");
  return outcome.message;
}

/** Another process that holds the next free name of the directory. */
async function startHolder(directory: string) {
  const program = `
    const { takeMirror } = await import(${JSON.stringify(SOURCE)});
    const mirror = await takeMirror({ directory: ${JSON.stringify(directory)} });
    console.log(mirror.instance);
    setInterval(() => {}, 1000);`;
  const holder = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe" });
  const { value } = await holder.stdout.getReader().read();
  return { holder, instance: Number(new TextDecoder().decode(value)) };
}

test("the first name is session.json in a private directory that git does not see", async () => {
  using world = temporary();
  const mirror = await takeMirror({ directory: world.directory });
  expect(mirror).toMatchObject({ path: world.path(".bosun", "session.json"), instance: 1 });
  expect(statSync(world.path(".bosun")).mode & 0o777).toBe(0o700);
  expect(readFileSync(world.path(".bosun", ".gitignore"), "utf8")).toBe("*\n");
  expect(readdirSync(world.path(".bosun")).sort()).toEqual([".gitignore", "session.json.lock"]);
  expect(statSync(world.path(".bosun", "session.json.lock")).mode & 0o777).toBe(0o600);
  mirror.release();
});

test("a second claim gets the next name, and a name that is free again is used again", async () => {
  using world = temporary();
  const { directory } = world;
  const first = await takeMirror({ directory });
  const second = await takeMirror({ directory });
  expect(second).toMatchObject({
    path: world.path(".bosun", "session2.json"),
    instance: 2,
    wantedPath: first.path,
  });
  first.release();
  first.release();
  const third = await takeMirror({ directory });
  expect(third.instance).toBe(1);
  expect(() => first.load()).toThrow(MirrorError);
  second.release();
  third.release();
});

test("two processes get two names, and SIGKILL frees the name", async () => {
  using world = temporary();
  const started = await Promise.all([startHolder(world.directory), startHolder(world.directory)]);
  try {
    expect(started.map(({ instance }) => instance).sort()).toEqual([1, 2]);
    const third = await takeMirror({ directory: world.directory });
    expect(third.instance).toBe(3);
    third.release();
    const owner = started.find(({ instance }) => instance === 1)?.holder;
    owner?.kill("SIGKILL");
    await owner?.exited;
    const heir = await takeMirror({ directory: world.directory });
    expect(heir.instance).toBe(1);
    heir.release();
  } finally {
    for (const { holder } of started) holder.kill("SIGKILL");
    await Promise.all(started.map(({ holder }) => holder.exited));
  }
});

test("a file of one's own is numbered before its extension, and its directory left alone", async () => {
  using world = temporary();
  const { directory } = world;
  const names = ["foo.json", ".aicsession", "plain", "a.tar.json"];
  expect(names.map((name) => numbered(`/d/${name}`, 2))).toEqual([
    "/d/foo2.json",
    "/d/.aicsession2",
    "/d/plain2",
    "/d/a.tar2.json",
  ]);
  const first = await takeMirror({ directory, file: "foo.json" });
  const second = await takeMirror({ directory, file: world.path("foo.json") });
  expect([first.path, second.path]).toEqual([world.path("foo.json"), world.path("foo2.json")]);
  expect(readdirSync(directory).sort()).toEqual(["foo.json.lock", "foo2.json.lock"]);
  first.release();
  second.release();
});

test("there is an end to the names", async () => {
  using world = temporary();
  const { directory } = world;
  const taken = [];
  for (let count = 0; count < INSTANCES_MAX; count += 1)
    taken.push(await takeMirror({ directory }));
  expect(await refusal({ directory })).toBe(
    `All 64 names from ${world.path(".bosun", "session.json")} on are held by running instances. ` +
      "End some of them, or choose another file.",
  );
  for (const mirror of taken) mirror.release();
});

test("what is in .bosun already stays, and loses only the right of others to write", async () => {
  using world = temporary();
  mkdirSync(world.path(".bosun"), { mode: 0o755 });
  writeFileSync(world.path(".bosun", ".gitignore"), "!skills\n");
  (await takeMirror({ directory: world.directory })).release();
  expect(readFileSync(world.path(".bosun", ".gitignore"), "utf8")).toBe("!skills\n");
  expect(statSync(world.path(".bosun")).mode & 0o777).toBe(0o755);
  Bun.spawnSync(["chmod", "777", world.path(".bosun")]);
  (await takeMirror({ directory: world.directory })).release();
  expect(statSync(world.path(".bosun")).mode & 0o777).toBe(0o755);
});

test("links that a repository brings are refused and lead nowhere", async () => {
  using world = temporary();
  const { directory } = world;
  const bosun = world.path(".bosun");
  mkdirSync(world.path("elsewhere"));
  symlinkSync(world.path("elsewhere"), bosun);
  expect(await refusal({ directory })).toBe(
    `${bosun} is a symbolic link. Remove it, or choose another session file.`,
  );
  expect(readdirSync(world.path("elsewhere"))).toEqual([]);
  rmSync(bosun);
  writeFileSync(bosun, "");
  expect(await refusal({ directory })).toContain(`${bosun} is no directory.`);
  rmSync(bosun);

  mkdirSync(bosun);
  symlinkSync(world.path("elsewhere", "ignored"), join(bosun, ".gitignore"));
  symlinkSync(world.path("elsewhere", "data"), join(bosun, "session.json"));
  expect(await refusal({ directory })).toContain("session.json is a symbolic link.");
  rmSync(join(bosun, "session.json"));
  symlinkSync(world.path("elsewhere", "lock"), join(bosun, "session.json.lock"));
  expect(await refusal({ directory })).toContain("session.json.lock: it is a symbolic link.");
  expect(readdirSync(world.path("elsewhere"))).toEqual([]);
  expect(lstatSync(join(bosun, "session.json.lock")).isSymbolicLink()).toBe(true);
});

test("pipes and directories in place of the files are refused without waiting", async () => {
  using world = temporary();
  const { directory } = world;
  const bosun = world.path(".bosun");
  mkdirSync(bosun);
  Bun.spawnSync(["mkfifo", join(bosun, "session.json.lock")]);
  expect(await refusal({ directory })).toContain("session.json.lock is no regular file.");
  rmSync(join(bosun, "session.json.lock"));
  Bun.spawnSync(["mkfifo", join(bosun, "session.json")]);
  expect(await refusal({ directory })).toContain("session.json is no regular file.");
  expect(await refusal({ directory, file: "." })).toContain("is no regular file.");
  expect(await refusal({ directory, file: "no/such/x.json" })).toContain(
    "the directory is not there. Create it, or choose another file.",
  );
});

test("a lock that is removed under its owner is taken anew, or the name is lost loudly", async () => {
  using world = temporary();
  const { directory } = world;
  const first = await takeMirror({ directory });
  rmSync(world.path(".bosun"), { recursive: true });
  expect(first.load()).toEqual({ kind: "absent" });
  expect(existsSync(world.path(".bosun", "session.json.lock"))).toBe(true);
  const second = await takeMirror({ directory });
  expect(second.instance).toBe(2);
  rmSync(world.path(".bosun"), { recursive: true });
  const thief = await takeMirror({ directory });
  expect(thief.instance).toBe(1);
  expect(() => first.load()).toThrow("now belongs to another instance");
  for (const mirror of [first, second, thief]) mirror.release();
});

test("after .bosun became a link nothing is written through it", async () => {
  using world = temporary();
  const mirror = await takeMirror({ directory: world.directory });
  rmSync(world.path(".bosun"), { recursive: true });
  mkdirSync(world.path("elsewhere"));
  symlinkSync(world.path("elsewhere"), world.path(".bosun"));
  expect(() => mirror.load()).toThrow("is a symbolic link");
  expect(readdirSync(world.path("elsewhere"))).toEqual([]);
  mirror.release();
});
