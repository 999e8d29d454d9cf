import { expect } from 'chai';
import { describe, it } from 'mocha';
import { LendingErrors } from '../../../src/http/edge/lending-errors.ts';
import { documentAfterPatch } from '../../../src/http/lending/json-patch-body.ts';

const document = { name: 'n', days: [1] };

/** The places and messages of the errors of a patch. */
function errorsOf(bodyText: string): unknown {
  try {
    documentAfterPatch(document, bodyText);
  } catch (error) {
    if (!(error instanceof LendingErrors)) throw error;
    return error.errors.map(({ errorSource, errorMessage }) => [errorSource, errorMessage]);
  }
  return expect.fail('It was done.');
}

describe('the body of a patch', () => {
  it('gives a new document', () => {
    const body = '[{"op":"REPLACE","path":"name","value":"m"},{"op":"ADD","path":"/days/-","value":null}]';
    expect(documentAfterPatch(document, body)).to.deep.equal({ name: 'm', days: [1, null] });
    expect(document).to.deep.equal({ name: 'n', days: [1] });
  });

  it('is refused with the position and the path of each wrong operation', () => {
    expect(
      errorsOf('[{"op":"GONE","path":"name"},{"op":"ADD","path":"/x","value":1},{"op":"ADD","path":"/y"},5]'),
    ).to.deep.equal([
      ['[0]/name', 'Operation 0, op: It is one of ADD, REPLACE, REMOVE, MOVE.'],
      ['[2]/y', 'Operation 2, value: It is missing.'],
      ['[3]', 'Operation 3: It is not an object.'],
    ]);
  });

  it('is refused with the position and the path of the first operation that cannot be done', () => {
    const body = '[{"op":"REMOVE","path":"name"},{"op":"REMOVE","path":"name"},{"op":"REMOVE","path":"x"}]';
    expect(errorsOf(body)).to.deep.equal([['[1]/name', 'Operation 1, path: There is nothing at this path.']]);
  });

  it('shows at most 100 characters of a path', () => {
    expect(errorsOf(`[{"op":"REMOVE","path":"/${'x'.repeat(500)}"}]`)).to.deep.equal([
      [`[0]/${'x'.repeat(99)}`, 'Operation 0, path: There is nothing at this path.'],
    ]);
  });

  it('is refused when it is no list', () => {
    for (const body of ['', '{}', '['])
      expect(errorsOf(body))
        .to.have.nested.property('[0][0]')
        .that.matches(/^The body cannot be read: /);
  });
});
