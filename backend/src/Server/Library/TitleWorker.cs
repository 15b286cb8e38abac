using Sluice.Server.Database;
using Sluice.Server.Diagnostics;

namespace Sluice.Server.Library;

/// <summary>
/// Adds titles to releases from earlier versions and imported libraries, in small transactions that let other writes run in between. An index lists the rows
/// without a title, so startup reads nothing if there are none.
/// </summary>
internal sealed class TitleWorker(SluiceDatabase database, TitleStore titles) : IWorker
{
    public string Name => "the titles of releases";

    public Task RunAsync(CancellationToken stopping) => database.WhileOpenAsync(async () =>
    {
        while (await titles.FillAsync(stopping))
        {
            // A restart continues with the remaining rows.
        }
    });
}
