export const deliveryStatuses = ['PENDING', 'RETRYING', 'DELIVERED', 'FAILED', 'CANCELED'] as const
