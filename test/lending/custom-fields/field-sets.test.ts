import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  fieldSetsOf,
  groupIndexField,
  withGroupIndexes,
  withoutDetails,
} from '../../../src/lending/custom-fields/field-sets.ts';

const fields = {
  assignedBranchKey: 'b',
  _risk: { score: '7' },
  _assets: [{ age: '3' }, { age: '4' }],
  disbursementDetails: { fees: [], _disb: { purpose: 'CAR' }, _rows: [{ a: '1' }] },
  assets: [{ assetName: 'Car', _car: [{ age: '3' }] }],
};

describe('custom field sets', () => {
  it('are the fields whose names begin with an underscore', () => {
    expect(fieldSetsOf(fields).map(([id]) => id)).to.deep.equal(['_risk', '_assets']);
  });

  it('show the index of each group, at every depth', () => {
    const shown = withGroupIndexes(fields);
    expect(shown['_assets']).to.deep.equal([
      { [groupIndexField]: '0', age: '3' },
      { [groupIndexField]: '1', age: '4' },
    ]);
    expect(shown['disbursementDetails']).to.deep.include({ _rows: [{ _index: '0', a: '1' }] });
    expect(shown['assets']).to.deep.equal([{ assetName: 'Car', _car: [{ _index: '0', age: '3' }] }]);
    expect(shown['_risk']).to.deep.equal({ score: '7' });
  });

  it('are not shown without details, and neither is what stands for the loan', () => {
    expect(withoutDetails(fields)).to.deep.equal({ assignedBranchKey: 'b', disbursementDetails: { fees: [] } });
  });
});
