namespace Sluice.Server.WebDav;

/// <summary>Where a COPY or MOVE goes.</summary>
/// <param name="Collection">The collection that is to hold the item.</param>
/// <param name="Name">Its name there.</param>
/// <param name="MayReplace">False when nothing may stand at the name (<c>Overwrite: F</c>).</param>
/// <param name="IsDeep">Whether what a collection holds goes with it.</param>
internal sealed record StoreTransfer(IStoreCollection Collection, string Name, bool MayReplace, bool IsDeep);
