/** The product's icon as a data URL, so that it needs no request. */
export const brandIcon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1f3a5f"/>' +
    '<path d="M10 26V9a2 2 0 0 1 2-2h8a2 2 0 0 1 2 2v17" fill="none" stroke="#fff" stroke-width="2.4"/>' +
    '<circle cx="18.4" cy="17" r="1.6" fill="#fff"/></svg>',
)}`;
