using System.Data.Common;
using System.Runtime.CompilerServices;

namespace Sluice.Server.WebDav.Tree;

/// <summary>
/// Maps database failures to <see cref="StoreUnavailableException"/>, even in mid-listing, so that a broken database never looks like an empty tree (DAV-6).
/// </summary>
internal static class StoreGuard
{
    public static async Task<T> RunAsync<T>(Func<Task<T>> call)
    {
        try
        {
            return await call();
        }
        catch (DbException failure)
        {
            throw Unavailable(failure);
        }
    }

    public static async IAsyncEnumerable<T> ReadAsync<T>(IAsyncEnumerable<T> rows, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await using var row = rows.GetAsyncEnumerator(cancellationToken);
        while (true)
        {
            try
            {
                if (!await row.MoveNextAsync())
                    yield break;
            }
            catch (DbException failure)
            {
                throw Unavailable(failure);
            }

            yield return row.Current;
        }
    }

    private static StoreUnavailableException Unavailable(DbException failure) =>
        new("The database cannot be read.", failure);
}
