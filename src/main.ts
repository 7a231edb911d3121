#!/usr/bin/env bun
// The program's entry: hands the command line to the application and ends with its exit status.

import { runProgram } from "#app";

process.exitCode = await runProgram(process.argv.slice(2));
