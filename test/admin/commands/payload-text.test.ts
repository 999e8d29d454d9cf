import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { CommandField } from '../../../src/admin/commands/command-fields.ts';
import {
  fieldText,
  formattedPayload,
  withFieldText,
  withoutMembers,
} from '../../../src/admin/commands/payload-text.ts';

describe('the payload of a command in a form', () => {
  const field = (path: string, kind: CommandField['kind'] = 'text', options: readonly string[] = []): CommandField => {
    return { path: path.split('/'), label: path, kind, isRequired: false, hint: undefined, options };
  };
  const change = (text: string, changed: CommandField, content: string): string =>
    withFieldText(text, changed, content).replaceAll(/\s+/g, '');

  it('keeps all digits of all numbers', () => {
    const amount = '12345678901234567890.10';
    const text = `{"amount":${amount},"other":1.00}`;
    expect(fieldText(text, field('amount', 'number'))).to.equal(amount);
    expect(change(text, field('note'), 'x')).to.equal(`{"amount":${amount},"other":1.00,"note":"x"}`);
    expect(change(text, field('other', 'number'), '2.50')).to.equal(`{"amount":${amount},"other":2.50}`);
    expect(formattedPayload(text)).to.equal(`{\n  "amount": ${amount},\n  "other": 1.00\n}`);
  });

  it('writes what is no number as the text that it is', () => {
    for (const content of ['12.', '1e3', '01', '+1', '1,000', 'x']) {
      expect(change('{}', field('amount', 'number'), content)).to.equal(JSON.stringify({ amount: content }));
    }
    expect(change('{}', field('amount', 'number'), '-0.5')).to.equal('{"amount":-0.5}');
  });

  it('leaves out what is empty, with the objects that hold nothing else', () => {
    const text = '{"a":{"b":{"c":1}},"d":2}';
    expect(change(text, field('a/b/c', 'count'), '')).to.equal('{"d":2}');
    expect(change('{"a":1}', field('a', 'count'), '')).to.equal('{}');
    expect(change('{}', field('a/b/c', 'count'), '3')).to.equal('{"a":{"b":{"c":3}}}');
    expect(fieldText('{}', field('a/b/c'))).to.equal('');
  });

  it('keeps the order of members, and writes flags as flags', () => {
    const flag = field('b', 'choice', ['true', 'false']);
    expect(change('{"a":1,"b":false,"c":2}', flag, 'true')).to.equal('{"a":1,"b":true,"c":2}');
    expect(fieldText('{"b":false}', flag)).to.equal('false');
    expect(change('{}', field('b', 'choice', ['A', 'B']), 'A')).to.equal('{"b":"A"}');
  });

  it('takes members away, and nothing of what is below them', () => {
    expect(withoutMembers('{"id":"a","b":{"id":1.50}}', ['id', 'version'])).to.equal('{"b":{"id":1.50}}');
  });
});
