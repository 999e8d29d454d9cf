import {
  parse,
  type AnyNode,
  type AssignmentExpression,
  type BinaryExpression,
  type Expression,
  type Literal,
  type LogicalExpression,
} from 'acorn';
import { ancestor, simple, type AncestorVisitors } from 'acorn-walk';

/**
 * Where compiled code can be changed by one small fault, and how. A parser finds the places, so that texts and comments
 * are not touched.
 */

export type OperatorName =
  | 'bound'
  | 'comparison'
  | 'arithmetic'
  | 'number'
  | 'boolean'
  | 'negation'
  | 'logic'
  | 'default'
  | 'removed call';

/** One small fault: the code from `start` to `end` is replaced. */
export interface Mutation {
  readonly operator: OperatorName;
  /** Offset in the compiled code, in UTF-16 units as in a string. */
  readonly start: number;
  /** The first offset after the replaced code. */
  readonly end: number;
  readonly replacement: string;
  /** The start of the expression or statement around the change: tests that execute this place may find it. */
  readonly from: number;
  /** The expression or statement around the change in one line, before and after: `a < b → a <= b`. */
  readonly change: string;
}

const bounds: Readonly<Record<string, string>> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };

const opposites: Readonly<Record<string, string>> = {
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
  '===': '!==',
  '!==': '===',
  '==': '!=',
  '!=': '==',
};

const arithmetic: Readonly<Record<string, string>> = {
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '<<': '>>',
  '>>': '<<',
  '>>>': '<<',
  '&': '|',
  '|': '&',
  '+=': '-=',
  '-=': '+=',
};

/** The same faults as method calls, as on decimals. */
const methodBounds: Readonly<Record<string, string>> = {
  lessThan: 'lessThanOrEqualTo',
  lessThanOrEqualTo: 'lessThan',
  greaterThan: 'greaterThanOrEqualTo',
  greaterThanOrEqualTo: 'greaterThan',
};

const methodOpposites: Readonly<Record<string, string>> = {
  lessThan: 'greaterThanOrEqualTo',
  lessThanOrEqualTo: 'greaterThan',
  greaterThan: 'lessThanOrEqualTo',
  greaterThanOrEqualTo: 'lessThan',
};

const methodArithmetic: Readonly<Record<string, string>> = {
  plus: 'minus',
  minus: 'plus',
  times: 'dividedBy',
  dividedBy: 'times',
  min: 'max',
  max: 'min',
  some: 'every',
  every: 'some',
};

/** Larger numbers are sizes and times, which are doubled and halved: no promise is exact to the millisecond. */
const exactNumberMaximum = 1_000;

/** A number is described together with the expression around it, unless that is longer. Characters. */
const shownLengthMaximum = 80;

const logMethods: ReadonlySet<string> = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal']);

/** Every fault that the code can have, in the order of the places. @throws SyntaxError when it is no module */
export function mutationsOf(code: string): readonly Mutation[] {
  const program = parse(code, { ecmaVersion: 'latest', sourceType: 'module', preserveParens: true });
  const wordsForPeople: AnyNode[] = [];
  simple(program, {
    ExpressionStatement: (statement) => {
      if (statement.expression.type === 'CallExpression' && isLogCall(statement.expression.callee)) {
        wordsForPeople.push(statement);
      }
    },
    NewExpression: ({ callee, arguments: messages }) => {
      if (callee.type === 'Identifier' && /^(Type|Range)?Error$/.test(callee.name)) wordsForPeople.push(...messages);
    },
  });
  const faults = new Faults(code);
  ancestor(program, visitors, undefined, faults);
  return faults.found
    .filter(({ start, end }) => !wordsForPeople.some((words) => words.start <= start && end <= words.end))
    .sort((a, b) => a.start - b.start || a.end - b.end);
}

/** The code with that fault in it. */
export function withMutation(code: string, { start, end, replacement }: Mutation): string {
  return code.slice(0, start) + replacement + code.slice(end);
}

function isLogCall(callee: AnyNode): boolean {
  if (callee.type !== 'MemberExpression' || !logMethods.has(nameOf(callee.property))) return false;
  const { object } = callee;
  return /logger$/i.test(object.type === 'MemberExpression' ? nameOf(object.property) : nameOf(object));
}

function nameOf(node: AnyNode): string {
  return node.type === 'Identifier' || node.type === 'PrivateIdentifier' ? node.name : '';
}

/** Collects the faults of one file. */
class Faults {
  readonly #code: string;
  readonly found: Mutation[] = [];

  constructor(code: string) {
    this.#code = code;
  }

  textOf({ start, end }: AnyNode): string {
    return this.#code.slice(start, end);
  }

  /** Replaces a part of the code. @param shown the expression or statement that describes the change */
  replace(operator: OperatorName, shown: AnyNode, start: number, end: number, replacement: string): void {
    const before = this.textOf(shown);
    const after = this.#code.slice(shown.start, start) + replacement + this.#code.slice(end, shown.end);
    const change = `${inOneLine(before)} → ${inOneLine(after)}`;
    this.found.push({ operator, start, end, replacement, from: shown.start, change });
  }

  /** Replaces the operator between two operands, where the table has another one. */
  replaceOperator(operator: OperatorName, node: OperatorNode, others: Readonly<Record<string, string>>): void {
    const other = own(others, node.operator);
    if (other === undefined) return;
    const start = this.#code.indexOf(node.operator, node.left.end);
    this.replace(operator, node, start, start + node.operator.length, other);
  }

  doubleAndHalve(size: AnyNode): void {
    const { start, end } = size;
    for (const other of ['* 2', '/ 2']) this.replace('number', size, start, end, `(${this.textOf(size)} ${other})`);
  }

  negate(condition: Expression): void {
    if (isNegatedElsewhere(condition)) return;
    const { start, end } = condition;
    this.replace('negation', condition, start, end, `!(${this.textOf(condition)})`);
  }

  negateQuestion(value: AnyNode | null | undefined): void {
    if (value?.type === 'CallExpression' && isQuestion(value)) this.negate(value);
  }
}

type OperatorNode = BinaryExpression | LogicalExpression | AssignmentExpression;

const visitors: AncestorVisitors<Faults> = {
  BinaryExpression(node, faults) {
    const { left, right, operator } = node;
    if (isProductOfNumbers(node)) return;
    faults.replaceOperator('comparison', node, opposites);
    if (isText(left) || isText(right)) return;
    faults.replaceOperator('bound', node, bounds);
    faults.replaceOperator('arithmetic', node, arithmetic);
    if ((operator === '+' || operator === '-') && isOne(right)) faults.replace('number', node, left.end, right.end, '');
  },
  LogicalExpression(node, faults) {
    if (node.operator === '??') {
      if (!isItem(node.left, faults)) faults.replace('default', node, node.left.end, node.end, '');
      faults.replace('default', node, node.start, node.right.start, '');
    } else {
      faults.replaceOperator('logic', node, { '&&': '||', '||': '&&' });
    }
  },
  AssignmentExpression(node, faults) {
    if (!isText(node.right)) faults.replaceOperator('arithmetic', node, arithmetic);
    faults.replaceOperator('default', node, { '??=': '=' });
  },
  UpdateExpression(node, faults) {
    const start = node.prefix ? node.start : node.argument.end;
    faults.replace('arithmetic', node, start, start + 2, node.operator === '++' ? '--' : '++');
  },
  UnaryExpression(node, faults) {
    if (node.operator === '!') faults.replace('negation', node, node.start, node.start + 1, '');
    if (node.operator === '-') faults.replace('arithmetic', node, node.start, node.start + 1, '');
  },
  CallExpression(node, faults) {
    const { callee } = node;
    if (callee.type !== 'MemberExpression' || callee.computed) return;
    const { start, end } = callee.property;
    const replaceName = (operator: OperatorName, others: Readonly<Record<string, string>>): void => {
      const other = own(others, nameOf(callee.property));
      if (other !== undefined) faults.replace(operator, node, start, end, other);
    };
    replaceName('bound', methodBounds);
    replaceName('comparison', methodOpposites);
    replaceName('arithmetic', methodArithmetic);
  },
  Literal(node, faults, ancestors) {
    const parent = ancestors.at(-2);
    if (typeof node.value === 'boolean') faults.replace('boolean', node, node.start, node.end, String(!node.value));
    if (parent === undefined || isOperandOne(node, parent)) return;
    const product = ancestors.find(isProductOfNumbers);
    if (product !== undefined) {
      if (product.start === node.start) faults.doubleAndHalve(product);
      return;
    }
    if (isTime(parent) && typeof node.value === 'number' && node.value > 1) {
      faults.doubleAndHalve(node);
      return;
    }
    const shown = parent.end - parent.start <= shownLengthMaximum ? parent : node;
    for (const number of otherNumbers(node)) faults.replace('number', shown, node.start, node.end, number);
  },
  IfStatement: ({ test }, faults) => faults.negate(test),
  WhileStatement: ({ test }, faults) => faults.negate(test),
  DoWhileStatement: ({ test }, faults) => faults.negate(test),
  ConditionalExpression: ({ test }, faults) => faults.negate(test),
  ArrowFunctionExpression: ({ body }, faults) => faults.negateQuestion(body),
  ReturnStatement: ({ argument }, faults) => faults.negateQuestion(argument),
  ExpressionStatement(node, faults) {
    const { expression } = node;
    const call = expression.type === 'AwaitExpression' ? expression.argument : expression;
    const isCall = call.type === 'CallExpression' && call.callee.type !== 'Super';
    if (isCall || call.type === 'ChainExpression') faults.replace('removed call', node, node.start, node.end, ';');
  },
};

function own(table: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function isText(node: AnyNode): boolean {
  if (node.type === 'ParenthesizedExpression') return isText(node.expression);
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string');
}

/** Whether the node is a number in parts, such as `4 * 1024 * 1024`: one fault of it is as good as another. */
function isProductOfNumbers(node: AnyNode): boolean {
  if (node.type !== 'BinaryExpression' || node.operator !== '*') return false;
  return [node.left, node.right].every(
    (factor) => isProductOfNumbers(factor) || (factor.type === 'Literal' && typeof factor.value === 'number'),
  );
}

/** Whether a number in this place is a time by its name. */
function isTime(parent: AnyNode): boolean {
  const named = parent.type === 'VariableDeclarator' ? parent.id : parent.type === 'Property' ? parent.key : parent;
  return /(Milliseconds|Seconds)(Default)?$/.test(nameOf(named));
}

/**
 * Whether a value is the item of a list at an index: the type checker asks for a default, also where the index is
 * always within the list, so that taking it away changes nothing.
 */
function isItem(node: AnyNode, faults: Faults): boolean {
  if (node.type !== 'MemberExpression' || !node.computed) return false;
  return /^[\d\s+*-]*$|index|position|head/i.test(faults.textOf(node.property));
}

function isOne(node: AnyNode): boolean {
  return node.type === 'Literal' && (node.value === 1 || node.value === 1n);
}

/** Whether a literal is the 1 of `x + 1`, which is removed as a whole. */
function isOperandOne(node: Literal, parent: AnyNode): boolean {
  return (
    parent.type === 'BinaryExpression' &&
    parent.right === node &&
    isOne(node) &&
    (parent.operator === '+' || parent.operator === '-')
  );
}

/** Whether the negation of a condition is the same fault as one at its operator. */
function isNegatedElsewhere(test: Expression): boolean {
  if (test.type === 'ParenthesizedExpression') return isNegatedElsewhere(test.expression);
  if (test.type === 'BinaryExpression') return Object.hasOwn(opposites, test.operator);
  return (test.type === 'UnaryExpression' && test.operator === '!') || test.type === 'Literal';
}

/** Whether a call returns true or false by its name: `isOpen(...)`, `tree.has(...)`. */
function isQuestion({ callee }: { readonly callee: AnyNode }): boolean {
  const name = callee.type === 'MemberExpression' ? nameOf(callee.property) : nameOf(callee);
  return /^(is|has|can|may|equals|includes|startsWith|endsWith)([A-Z]|$)/.test(name);
}

function otherNumbers({ value, raw = '' }: Literal): readonly string[] {
  if (typeof value === 'bigint') return [`${value + 1n}n`];
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) return [];
  if (value > exactNumberMaximum) return [`(${raw} * 2)`, `(${raw} / 2)`];
  return value === 0 ? ['1'] : [String(value + 1), String(value - 1)];
}

function inOneLine(code: string): string {
  return code.replaceAll(/\s+/g, ' ');
}
