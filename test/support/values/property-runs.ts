/** How often each property is checked at least: campaigns set it, and the suite does not. */
const inCampaign = Number(process.env['PROPERTY_RUNS'] ?? 0);

/** The suite runs on every change, with other cases each time: half of the runs of a day find the same. */
const shareOfSuite = 0.5;

/**
 * How often a property is checked: in a campaign as often as it asks.
 * @param enough How many runs are enough to find any fault in one go; the suite does half of them.
 * @param campaignShare The part of a campaign's runs that one has time for whose single run takes long.
 */
export function propertyRuns(enough: number, campaignShare = 1): { readonly numRuns: number } {
  if (inCampaign === 0) return { numRuns: Math.ceil(enough * shareOfSuite) };
  return { numRuns: Math.max(enough, Math.ceil(inCampaign * campaignShare)) };
}

/** How much longer than in the suite a test may take. */
export const propertyTimeFactor = inCampaign > 0 ? 60 : 1;
