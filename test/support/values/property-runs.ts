/** How often each property is checked at least: campaigns set it, and the suite does not. */
const inCampaign = Number(process.env['PROPERTY_RUNS'] ?? 0);

/**
 * How often a property is checked: as often as the suite has time for, and in a campaign as often as it asks.
 * @param campaignShare The part of a campaign's runs that one has time for whose single run takes long.
 */
export function propertyRuns(inSuite: number, campaignShare = 1): { readonly numRuns: number } {
  return { numRuns: Math.max(inSuite, Math.ceil(inCampaign * campaignShare)) };
}

/** How much longer than in the suite a test may take. */
export const propertyTimeFactor = inCampaign > 0 ? 60 : 1;
