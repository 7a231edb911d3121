// Puts the program together: the only module that knows all others.

export { runProgram } from "./app/program";
