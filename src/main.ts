#!/usr/bin/env bun
// The program's entry: hands the command line to the application and ends with its exit status.

import { runProgram } from "#app";

// Whatever still listens (a terminal, a connection kept alive) must not hold the program open.
process.exit(await runProgram(process.argv.slice(2)));
