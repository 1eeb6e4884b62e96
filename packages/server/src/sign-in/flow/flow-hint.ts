import type { FlowData } from './flow-data.ts';

/**
 * Returns where a browser can continue when its flow is over: the id of the app, or the name of a page of this service.
 * The hint is in the flow's cookie, so it outlives the stored flow. It comes back from the browser, so it is looked up
 * and never used as an address.
 */
export const hintOf = (data: FlowData[keyof FlowData]): string => {
  if (!('asked' in data)) return 'service';
  const { appId, device, toService } = data.asked;
  if (device) return 'device';
  if (toService?.cli) return 'cli';
  return toService ? 'service' : appId;
};
