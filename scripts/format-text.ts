import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FormatOptions, format } from 'oxfmt';
import { packageRoot } from '../src/package-root.ts';

/**
 * Formats a text as `npm run format` formats its file.
 * @param path The path of the file, whose ending decides the language.
 * @throws Error when the text is not of that language
 */
export async function formatText(path: string, text: string): Promise<string> {
  const options = JSON.parse(readFileSync(join(packageRoot, '.oxfmtrc.json'), 'utf8')) as FormatOptions;
  const { code, errors } = await format(path, text, options);
  if (errors.length > 0)
    throw new Error(`${path} cannot be formatted: ${errors.map(({ message }) => message).join('; ')}`);
  return code;
}
