/**
 * The fields of loan commands, for a form.
 * In: the schema of the event type of commands, as the service gives it. Out: what a person can fill in, in groups.
 * Start with `fieldGroupsOf`. What is a list, or has no choice, is left to the JSON beside the form.
 */

/** `day` is a calendar day, `choice` one of `options`. */
type FieldKind = 'number' | 'count' | 'day' | 'text' | 'choice';

export interface CommandField {
  /** The names of the objects that it is in, and its own. */
  readonly path: readonly string[];
  readonly label: string;
  readonly kind: FieldKind;
  readonly isRequired: boolean;
  readonly hint: string | undefined;
  /** Of a choice. */
  readonly options: readonly string[];
}

/** Fields of one object of the payload. */
export interface FieldGroup {
  /** Empty for the fields of the payload itself. */
  readonly title: string;
  readonly fields: readonly CommandField[];
}

type Rules = Readonly<Record<string, unknown>>;

/** How deep objects in objects have fields. */
const depthMaximum = 3;

/** The command names what it is for; the payload only repeats it. */
const identities = new Set(['id', 'encodedKey']);

/** @param schemaText The schema of all commands. @returns Nothing for an unknown type. */
export function fieldGroupsOf(schemaText: string, type: string): readonly FieldGroup[] {
  const schema = JSON.parse(schemaText) as Rules;
  const payload = payloadRules(schema, type);
  const groups = new Map<string, CommandField[]>();
  const fields = fieldsOf(payload, schema, []).toSorted(
    (left, right) => Number(right.isRequired) - Number(left.isRequired),
  );
  for (const field of fields) {
    const title = field.path.length === 1 ? '' : wordsOf(field.path[0] ?? '');
    groups.set(title, [...(groups.get(title) ?? []), field]);
  }
  return [...groups]
    .map(([title, fields]) => ({ title, fields }))
    .toSorted((left, right) => Number(left.title !== '') - Number(right.title !== ''));
}

/** The rules of the payload of a type: a command has one condition for each. */
function payloadRules(schema: Rules, type: string): Rules {
  for (const condition of listOf(schema['allOf'])) {
    const { if: when, then } = condition as { readonly if?: Rules; readonly then?: Rules };
    if (valueAt(when, 'properties', 'type', 'const') === type) {
      return resolved(objectOf(valueAt(then, 'properties', 'payload')), schema);
    }
  }
  return {};
}

function fieldsOf(rules: Rules, schema: Rules, path: readonly string[]): CommandField[] {
  const required = listOf(rules['required']);
  return Object.entries(objectOf(rules['properties'])).flatMap(([name, value]) => {
    const steps = [...path, name];
    if (path.length === 0 && identities.has(name)) return [];
    const own = resolved(objectOf(value), schema);
    if (typesOf(own).includes('object')) {
      return steps.length < depthMaximum ? fieldsOf(own, schema, steps) : [];
    }
    const field = kindOf(own, required.includes(name));
    return field === undefined
      ? []
      : [
          {
            path: steps,
            label: steps
              .slice(path.length === 0 ? 0 : 1)
              .map((step, index) => (index === 0 ? wordsOf(step) : lowerWordsOf(step)))
              .join(', '),
            isRequired: required.includes(name),
            hint: hintOf(own),
            ...field,
          },
        ];
  });
}

/** Undefined for what no person fills in: it is not stored, or has one value alone, or is a list. */
function kindOf(rules: Rules, isRequired: boolean): Pick<CommandField, 'kind' | 'options'> | undefined {
  if (/^(?:Accepted, not stored|Not stored|Given back)/.test(descriptionOf(rules))) return undefined;
  const choices = listOf(rules['enum']);
  if (choices.length > 0) {
    const given = choices.filter((choice) => choice !== '' && choice !== null).map(String);
    const options = [...new Set(given)];
    return options.length > 1 || isRequired ? { kind: 'choice', options } : undefined;
  }
  const types = typesOf(rules);
  // A value that must be as of the product has every type.
  if (types.length === 0 || types.includes('boolean') || types.includes('array')) return undefined;
  if (types.includes('integer')) return { kind: 'count', options: [] };
  if (types.includes('number')) return { kind: 'number', options: [] };
  const { pattern } = rules;
  const isDay = typeof pattern === 'string' && pattern.includes('[0-9]{4}-[0-9]{2}');
  return { kind: isDay ? 'day' : 'text', options: [] };
}

/** What the kind of a field says already is no hint. */
function hintOf(rules: Rules): string | undefined {
  const description = descriptionOf(rules);
  return description === '' || /^A (?:number|whole number|calendar day|boolean)\b/.test(description)
    ? undefined
    : description;
}

function descriptionOf(rules: Rules): string {
  return typeof rules['description'] === 'string' ? rules['description'] : '';
}

/** Rules with those that they refer to. */
function resolved(rules: Rules, schema: Rules): Rules {
  const reference = rules['$ref'];
  if (typeof reference !== 'string') return rules;
  const target = objectOf(valueAt(schema, ...reference.replace(/^#\//, '').split('/')));
  return { ...resolved(target, schema), ...rules };
}

function typesOf(rules: Rules): readonly unknown[] {
  const type = rules['type'];
  return type === undefined ? [] : Array.isArray(type) ? (type as unknown[]) : [type];
}

function valueAt(value: unknown, ...steps: readonly string[]): unknown {
  return steps.reduce((inner, step) => objectOf(inner)[step], value);
}

function objectOf(value: unknown): Rules {
  return typeof value === 'object' && value !== null ? (value as Rules) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/** `valueDate` as people write it: Value date. */
export function wordsOf(name: string): string {
  const words = lowerWordsOf(name);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function lowerWordsOf(name: string): string {
  return name
    .replaceAll(/(?=[A-Z])/g, ' ')
    .trim()
    .toLowerCase();
}
