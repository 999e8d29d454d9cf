import { fileURLToPath } from 'node:url';

/** The folder of package.json; compiled files run from a folder two levels below it. */
export const packageRoot = fileURLToPath(new URL('../../', import.meta.url));
