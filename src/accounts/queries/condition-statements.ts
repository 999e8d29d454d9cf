import { withoutNul } from '../../sqlite.ts';
import type { Condition } from './conditions.ts';
import type { SearchColumn } from './search-field.ts';
import type { Position } from './search-query.ts';

/** A part of an SQL statement with the values of its parameters. */
export interface SqlPart {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/**
 * A condition on a column. The text of the statement has only the expressions of columns; all that a client sent is a
 * parameter.
 */
export function conditionStatement(condition: Condition, column: SearchColumn): SqlPart {
  const { sql, values } = testStatement(condition, column);
  if (!condition.negated) return { sql, values };
  // In SQL a test of nothing is neither met nor failed.
  return { sql: `(${sql}) IS NOT TRUE`, values };
}

function testStatement(condition: Condition, { sql, sqlWithoutCase = sql }: SearchColumn): SqlPart {
  switch (condition.test) {
    case 'empty':
      return { sql: `${sql} IS NULL`, values: [] };
    case 'oneOf': {
      const values = condition.values.map(withoutNul);
      const expression = condition.ignoresCase ? sqlWithoutCase : sql;
      return { sql: `${expression} IN (${values.map(() => '?').join()})`, values };
    }
    case 'startsWith': {
      const prefix = withoutNul(condition.prefix);
      return {
        sql: `substr(${condition.ignoresCase ? sqlWithoutCase : sql}, 1, length(?)) = ?`,
        values: [prefix, prefix],
      };
    }
    case 'contains':
      return { sql: `instr(${sqlWithoutCase}, ?) > 0`, values: [withoutNul(condition.part)] };
    case 'range':
      break;
  }
  const { from, to } = condition;
  const bounds = [
    ...(from === null ? [] : [{ sql: `${sql} ${from.included ? '>=' : '>'} ?`, value: from.value }]),
    ...(to === null ? [] : [{ sql: `${sql} ${to.included ? '<=' : '<'} ?`, value: to.value }]),
  ];
  return { sql: bounds.map((bound) => bound.sql).join(' AND '), values: bounds.map(({ value }) => value) };
}

/**
 * The items that follow a position, in the order of a column and of the identity. SQLite sorts what is empty first.
 * @param column Undefined for the order of the identity alone.
 */
export function followingStatement(
  { value, identity }: Position,
  column: SearchColumn | undefined,
  descending: boolean,
  identityColumns: readonly string[],
): SqlPart {
  const marks = identity.map(() => '?').join();
  const next = (direction: '<' | '>'): SqlPart => ({
    sql: `(${identityColumns.join()}) ${direction} (${marks})`,
    values: identity,
  });
  if (column === undefined) return next(descending ? '<' : '>');
  const { sql, isOptional } = column;
  const laterId = next('>');
  if (value === null) {
    const isLaterEmpty = `(${sql} IS NULL AND ${laterId.sql})`;
    return { sql: descending ? isLaterEmpty : `(${isLaterEmpty} OR ${sql} IS NOT NULL)`, values: laterId.values };
  }
  const [beyond, from] = descending ? ['<', '<='] : ['>', '>='];
  // The first comparison follows from the second one, and lets SQLite begin in the middle of an index.
  const isLater = `(${sql} ${from} ? AND (${sql} ${beyond} ? OR ${laterId.sql}))`;
  const values = [value, value, ...laterId.values];
  return { sql: descending && isOptional ? `(${sql} IS NULL OR ${isLater})` : isLater, values };
}
