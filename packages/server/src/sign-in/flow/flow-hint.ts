import type { FlowData } from './flow-data.ts';

/**
 * Where a browser can go on when its flow is over: the id of the app, or which page of this service. The cookie of the flow holds
 * it, so it outlives the stored flow. It comes back from the browser, so it is looked up and never an address.
 */
export const hintOf = (data: FlowData[keyof FlowData]): string => {
  if (!('asked' in data)) return 'service';
  const { appId, device, toService } = data.asked;
  if (device) return 'device';
  if (toService?.cli) return 'cli';
  return toService ? 'service' : appId;
};
