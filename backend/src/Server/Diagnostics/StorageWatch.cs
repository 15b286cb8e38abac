using Sluice.Server.Database;

namespace Sluice.Server.Diagnostics;

/// <summary>Detects when a storage fault ends; otherwise only the next write would (F34). Restores the reserve as soon as there is space.</summary>
internal sealed class StorageWatch(
    StorageState state, SluiceDatabase database, DataFolder folder, BlobStore blobs, IBlobFiles files, DiskReserve reserve, TimeProvider time) : IWorker
{
    public static readonly TimeSpan Pause = TimeSpan.FromSeconds(30);

    public string Name => "the storage";

    public async Task RunAsync(CancellationToken stopping)
    {
        using var timer = new PeriodicTimer(Pause, time);
        while (await timer.WaitForNextTickAsync(stopping))
        {
            foreach (var fault in state.Faults)
                await TryAsync(fault, stopping);
            reserve.Keep();
        }
    }

    private async Task TryAsync(StorageException fault, CancellationToken stopping)
    {
        try
        {
            if (fault.Path != folder.Database)
            {
                if (fault.Fault == StorageFault.Full)
                    blobs.RequireSpace(0);
                new DurableFolder(fault.Path, files, state).Probe();
            }
            else if (database.IsOpen)
            {
                await database.ProbeAsync(stopping);
            }
        }
        catch (StorageException)
        {
            // The fault persists and was recorded again.
        }
    }
}
