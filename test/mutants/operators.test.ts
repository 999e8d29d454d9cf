import { expect } from 'chai';
import { describe, it } from 'mocha';
import { mutationsOf, withMutation, type OperatorName } from './operators.ts';

/** All results for the code, by operator. */
function mutants(code: string, operator?: OperatorName): readonly string[] {
  return mutationsOf(code)
    .filter((mutation) => operator === undefined || mutation.operator === operator)
    .map((mutation) => withMutation(code, mutation));
}

describe('The faults that code is given', () => {
  const cases: readonly {
    readonly operator: OperatorName;
    readonly code: string;
    readonly become: readonly string[];
  }[] = [
    { operator: 'bound', code: 'a < b;', become: ['a <= b;'] },
    { operator: 'bound', code: 'a <= b;', become: ['a < b;'] },
    { operator: 'bound', code: 'a > b;', become: ['a >= b;'] },
    { operator: 'bound', code: 'a >= b;', become: ['a > b;'] },
    { operator: 'bound', code: 'a.lessThan(b);', become: ['a.lessThanOrEqualTo(b);'] },
    { operator: 'comparison', code: 'a < b;', become: ['a >= b;'] },
    { operator: 'comparison', code: 'a === b;', become: ['a !== b;'] },
    { operator: 'comparison', code: "kind !== 'open';", become: ["kind === 'open';"] },
    { operator: 'comparison', code: 'a.greaterThan(b);', become: ['a.lessThanOrEqualTo(b);'] },
    { operator: 'arithmetic', code: 'a + b;', become: ['a - b;'] },
    { operator: 'arithmetic', code: '(a + b) * c;', become: ['(a - b) * c;', '(a + b) / c;'] },
    { operator: 'arithmetic', code: 'a -= b;', become: ['a += b;'] },
    { operator: 'arithmetic', code: 'a++;', become: ['a--;'] },
    { operator: 'arithmetic', code: '-(a);', become: ['(a);'] },
    {
      operator: 'arithmetic',
      code: 'a.plus(b).times(c);',
      become: ['a.minus(b).times(c);', 'a.plus(b).dividedBy(c);'],
    },
    { operator: 'number', code: 'a = 0;', become: ['a = 1;'] },
    { operator: 'number', code: 'a = 64;', become: ['a = 65;', 'a = 63;'] },
    { operator: 'number', code: 'a = 30_000;', become: ['a = (30_000 * 2);', 'a = (30_000 / 2);'] },
    {
      operator: 'number',
      code: 'a = 4 * 1024 * 1024;',
      become: ['a = (4 * 1024 * 1024 * 2);', 'a = (4 * 1024 * 1024 / 2);'],
    },
    { operator: 'arithmetic', code: 'a = 4 * 1024;', become: [] },
    {
      operator: 'number',
      code: 'const waitMilliseconds = 500;',
      become: ['const waitMilliseconds = (500 * 2);', 'const waitMilliseconds = (500 / 2);'],
    },
    { operator: 'number', code: '({ waitMilliseconds: 0 });', become: ['({ waitMilliseconds: 1 });'] },
    { operator: 'number', code: 'a = 7n;', become: ['a = 8n;'] },
    { operator: 'number', code: 'a + 1;', become: ['a;'] },
    { operator: 'number', code: '(a) - 1;', become: ['(a);'] },
    { operator: 'number', code: 'a * 1.5;', become: [] },
    { operator: 'boolean', code: 'a = true;', become: ['a = false;'] },
    { operator: 'negation', code: '!a;', become: ['a;'] },
    { operator: 'negation', code: '!(a && b);', become: ['(a && b);'] },
    { operator: 'negation', code: 'if (a && b) c;', become: ['if (!(a && b)) c;'] },
    { operator: 'negation', code: 'a ? b : c;', become: ['!(a) ? b : c;'] },
    { operator: 'negation', code: 'a === b ? c : d;', become: [] },
    { operator: 'negation', code: 'const f = (a) => a.isZero();', become: ['const f = (a) => !(a.isZero());'] },
    { operator: 'negation', code: 'const f = (a) => a.total();', become: [] },
    { operator: 'logic', code: 'a && b;', become: ['a || b;'] },
    { operator: 'logic', code: 'a || b;', become: ['a && b;'] },
    { operator: 'default', code: '(a && b) ?? c;', become: ['(a && b);', 'c;'] },
    { operator: 'default', code: 'a[index + 1] ?? b;', become: ['b;'] },
    { operator: 'default', code: 'a[0] ?? b;', become: ['b;'] },
    { operator: 'default', code: 'a[name] ?? b;', become: ['a[name];', 'b;'] },
    { operator: 'default', code: 'a ??= b;', become: ['a = b;'] },
    { operator: 'removed call', code: 'a.b(c);', become: [';'] },
    { operator: 'removed call', code: 'await f();', become: [';'] },
    { operator: 'removed call', code: 'f?.();', become: [';'] },
    { operator: 'removed call', code: 'const a = f();', become: [] },
  ];
  for (const { operator, code, become } of cases) {
    const result = become.length === 0 ? 'nothing' : become.join('  and  ');
    it(`${operator}: ${code}  becomes  ${result}`, () => {
      const sorted = [...mutants(code, operator)].sort();
      expect(sorted).to.deep.equal([...become].sort());
    });
  }

  it('leave texts, comments, log lines and the messages of errors alone', () => {
    const code = [
      '// a < b, and 7 more',
      "const text = 'a < b' + `of ${name}`;",
      'this.logger.warn({ count: 3 }, a < b);',
      'throw new RangeError(`${count + 1} of ${total - 1}`);',
    ];
    expect(mutants(code.join('\n'))).to.deep.equal([]);
  });

  it('describe the change in one line', () => {
    const [first] = mutationsOf('f(\n  a <\n    b,\n);').filter(({ operator }) => operator === 'bound');
    expect(first?.change).to.equal('a < b → a <= b');
  });
});
