/** Whether the service itself serves the logo. */
export const isUploaded = (logoUrl: string | null | undefined): logoUrl is string =>
  logoUrl?.includes('/api/pictures/') ?? false;
