import { expect } from 'chai';
import { describe, it } from 'mocha';
import { allTogglesOff, isToggleName, toggleNames } from '../../src/lending/toggle-names.ts';

describe('toggles', () => {
  it('are known by name', () => {
    expect(toggleNames.every(isToggleName)).to.equal(true);
    expect(isToggleName('FIXINSTALLMENTTAXONPENALTY')).to.equal(false);
  });

  it('are all off until an admin switches them', () => {
    expect(Object.entries(allTogglesOff)).to.deep.equal(toggleNames.map((name) => [name, false]));
  });
});
