import { compile } from 'json-schema-to-typescript';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/schemas.ts';
import { lendingEventTypes, loanCommandsTopic } from '../src/worker/lending-topics.ts';

/**
 * Makes the types of commands and events from their schemas. With `--check` it writes nothing and fails when the file in
 * the tree is not what the schemas say.
 */
const target = join(packageRoot, 'src/worker/messages.generated.ts');

type Schema = Record<string, unknown>;

/** What depends on other values (`if`, `oneOf`) has no type; the validator holds it. */
function withoutConditions(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutConditions);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => !['if', 'then', 'else', 'allOf', 'oneOf', '$id', '$schema'].includes(keyword))
      .map(([keyword, value]) => [keyword, withoutConditions(value)]),
  );
}

/** Which payload belongs to which type of command is a condition; the type of the message allows any of them. */
function withPayloads(command: Schema, definitions: Schema): Schema {
  const payloads = Object.keys(definitions).filter((name) => /^[A-Z_]+$/.test(name));
  const payload = { anyOf: payloads.map((name) => ({ $ref: `#/$defs/${name}` })) };
  return { ...command, properties: { ...(command['properties'] as Schema), payload } };
}

async function generate(): Promise<string> {
  const definitions: Schema = {};
  const messages: Schema = {};
  for (const { name, schema } of lendingEventTypes(1, 1)) {
    const { $defs, ...own } = withoutConditions(schema) as Schema & { $defs: Schema };
    Object.assign(definitions, $defs);
    messages[name] = name === loanCommandsTopic ? withPayloads(own, $defs) : own;
  }
  const types = await compile(
    {
      title: 'LendingMessages',
      description: 'Every message of lending by the name of its event type.',
      type: 'object',
      additionalProperties: false,
      required: Object.keys(messages),
      properties: messages,
      $defs: definitions,
    } as Parameters<typeof compile>[0],
    'LendingMessages',
    {
      bannerComment: '/* Made from schemas/ by `npm run generate`. Do not edit. */',
      ignoreMinAndMaxItems: true,
      style: { printWidth: 120, singleQuote: true, trailingComma: 'all' },
    },
  );
  // One name to import, under which all the others are found.
  return types.replaceAll(/^export (?=(interface|type) (?!LendingMessages\b))/gm, '');
}

const made = await generate();
if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== made) {
    console.error(`${target} is not what the schemas say: run npm run generate`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, made);
}
