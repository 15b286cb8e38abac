namespace Sluice.Server.Providers;

/// <summary>Something that is learned while the server runs and worth more than one run of it.</summary>
internal interface ILearnedMemory
{
    /// <summary>Takes in what an earlier run has stored.</summary>
    Task RestoreAsync(CancellationToken cancellationToken);

    /// <summary>Stores what is new since the last call, in one transaction; nothing where nothing is.</summary>
    /// <param name="cancellationToken">Counts until the transaction begins.</param>
    Task SaveAsync(CancellationToken cancellationToken);
}
