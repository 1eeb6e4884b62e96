/** Whether a logo was uploaded, so that the service itself serves it. */
export const isUploaded = (logoUrl: string | null | undefined): logoUrl is string =>
  logoUrl?.includes('/api/pictures/') ?? false;
