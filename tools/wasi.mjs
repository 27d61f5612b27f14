// Runs a WASI program in Node: `node tools/wasi.mjs PROGRAM ARGUMENT …`. The program sees the working folder as its root.
import { readFile } from "node:fs/promises";
import { argv, cwd, exit } from "node:process";
import { WASI } from "node:wasi";

const [program, ...rest] = argv.slice(2);
const wasi = new WASI({ version: "preview1", args: [program, ...rest], preopens: { ".": cwd() }, returnOnExit: true });
const module = await WebAssembly.compile(await readFile(program));
exit(wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject())));
