import { expect, test } from "bun:test";
import { sandboxPolicy } from "./policy";
import { seatbeltProfile, seatbeltWords } from "./seatbelt";

const policy = {
  ...sandboxPolicy({
    workspace: '/Users/a/my "work"',
    home: "/Users/a/.bosun",
    userId: 501,
    environment: {},
  }),
  services: ["/var/run/docker.sock"],
};

test("the profile allows what the policy allows, and denies the rest behind it", () => {
  expect(seatbeltProfile(policy)).toBe(
    [
      "(version 1)",
      "(allow default)",
      "(deny file-write*)",
      '(allow file-write* (subpath "/Users/a/my \\"work\\"") (subpath "/tmp") ' +
        '(subpath "/private/tmp") (subpath "/dev") (subpath "/dev/pts"))',
      '(deny file-write* (subpath "/Users/a/my \\"work\\"/.bosun"))',
      '(deny file-write-unlink (path-ancestors "/Users/a/my \\"work\\"/.bosun"))',
      '(deny file-write* (subpath "/Users/a/my \\"work\\"/.git/hooks"))',
      '(deny file-write-unlink (path-ancestors "/Users/a/my \\"work\\"/.git/hooks"))',
      '(deny file-read* file-write* (subpath "/Users/a/.bosun"))',
      '(deny network-outbound (literal "/var/run/docker.sock"))',
      "(deny signal)",
      "(allow signal (target same-sandbox))",
      "(deny process-info* (target others))",
      "(allow process-info* (target same-sandbox))",
      "",
    ].join("\n"),
  );
});

test("without a network there is one more line", () => {
  expect(seatbeltProfile({ ...policy, network: "none" })).toEndWith("(deny network*)\n");
});

test("the profile travels in the arguments", () => {
  expect(seatbeltWords(policy).slice(0, 2)).toEqual(["/usr/bin/sandbox-exec", "-p"]);
});
