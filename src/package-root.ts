import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of package.json; compiled files run from a folder two levels below it. */
export const packageRoot = fileURLToPath(new URL('../../', import.meta.url));

/** The version of the program, as package.json has it. */
export const packageVersion = (
  JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { readonly version: string }
).version;
