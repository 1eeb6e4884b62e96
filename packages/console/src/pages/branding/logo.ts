/** Whether the logo is an uploaded file, which the service itself serves. */
export const isUploaded = (logoUrl: string | null | undefined): logoUrl is string =>
  logoUrl?.includes('/api/pictures/') ?? false;
