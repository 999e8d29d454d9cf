/** Fields that may be null become fields that may be absent. */
export type Shown<Fields> = {
  [Name in keyof Fields as null extends Fields[Name] ? never : Name]: Fields[Name];
} & { [Name in keyof Fields as null extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], null> };

/** The fields of a view that are not null. Clients made from the lending API's description refuse a null. */
export function shown<Fields extends object>(fields: Fields): Shown<Fields> {
  const present: Record<string, unknown> = {};
  for (const name in fields) if (fields[name] !== null) present[name] = fields[name];
  return present as Shown<Fields>;
}
