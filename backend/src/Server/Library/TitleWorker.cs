using Sluice.Server.Database;
using Sluice.Server.Diagnostics;

namespace Sluice.Server.Library;

/// <summary>
/// Gives titles to the releases of earlier versions and of imported libraries, in small transactions between which other writes run. An index lists only
/// such rows, so a start without any reads nothing.
/// </summary>
internal sealed class TitleWorker(SluiceDatabase database, TitleStore titles) : IWorker
{
    public string Name => "the titles of releases";

    public Task RunAsync(CancellationToken stopping) => database.WhileOpenAsync(async () =>
    {
        while (await titles.FillAsync(stopping))
        {
            // A restart continues with the rows that are left.
        }
    });
}
