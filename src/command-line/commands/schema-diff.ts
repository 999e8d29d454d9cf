import { readFile } from 'node:fs/promises';
import { stringifyExact, parseExact, type EventTypeSchema } from '../../client/client.ts';
import { type Command, exitCodes, WrongUsage } from '../command.ts';
import { differenceOf } from '../line-difference.ts';

export const schemaDiffCommand: Command = {
  name: 'schema diff',
  parameters: '<event-type> [<version> [<version>]]',
  wordsMinimum: 1,
  wordsMaximum: 3,
  summary: 'how two versions of a schema differ: the latest two, or those that are named',
  options: {
    file: { value: 'FILE', summary: 'compare with the schema in a file, and check whether it is compatible' },
  },
  async run({ words, lendstream, output, isJson, text }) {
    const [eventType = '', ...versions] = words;
    const schemas = await lendstream.schemas(eventType);
    const file = text('file');
    if (file !== undefined && versions.length > 1) throw new WrongUsage('a file is compared with one version');
    if (file === undefined && versions.length === 0 && schemas.length === 1) {
      output.message(`${eventType} has one version of its schema`);
    }
    const [newest, previous = newest] = schemas;
    const before = versions.length > 0 ? versionOf(schemas, versions[0] ?? '') : file === undefined ? previous : newest;
    const after = versions.length > 1 ? versionOf(schemas, versions[1] ?? '') : newest;
    const proposed = file === undefined ? undefined : await schemaIn(file);
    const lines = differenceOf(linesOf(before?.schema ?? ''), linesOf(proposed ?? after?.schema ?? ''));
    const isDifferent = lines.some((line) => !line.startsWith(' '));
    const names = [before?.version ?? '', file ?? after?.version ?? ''];
    const verdict =
      proposed === undefined
        ? undefined
        : ((await lendstream.request(
            'POST',
            `/event-types/${encodeURIComponent(eventType)}/schemas/latest/compatibility-check`,
            {
              body: { type: 'json_schema', schema: proposed },
            },
          )) as { readonly compatible: boolean; readonly compatibility_mode: string; readonly error?: string });
    if (isJson)
      await output.json({ event_type: eventType, versions: names, different: isDifferent, lines, ...verdict });
    else {
      if (isDifferent) await output.line(`--- ${names[0]}\n+++ ${names[1]}`);
      if (isDifferent) for (const line of lines) await output.line(line);
      if (verdict !== undefined) {
        const { compatible, compatibility_mode: mode, error = '' } = verdict;
        output.message(compatible ? `compatible in mode ${mode}` : `not compatible in mode ${mode}: ${error}`);
      }
    }
    return isDifferent || verdict?.compatible === false ? exitCodes.different : exitCodes.done;
  },
};

function versionOf(schemas: readonly EventTypeSchema[], version: string): EventTypeSchema {
  const found = schemas.find((each) => each.version === version);
  if (found !== undefined) return found;
  throw new WrongUsage(`there is no version ${version}, but ${schemas.map((each) => each.version).join(', ')}`);
}

async function schemaIn(file: string): Promise<string> {
  const text = await readFile(file, 'utf8');
  linesOf(text);
  return text;
}

/** The lines of a schema, one value each, in the order of its fields. */
function linesOf(schema: string): string[] {
  try {
    return stringifyExact(parseExact(schema), 2).split('\n');
  } catch {
    throw new WrongUsage('the schema is not JSON');
  }
}
