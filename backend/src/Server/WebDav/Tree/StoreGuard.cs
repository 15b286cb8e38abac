using System.Data.Common;
using System.Runtime.CompilerServices;

namespace Sluice.Server.WebDav.Tree;

/// <summary>
/// Tells a database that cannot be read from a tree that is empty (DAV-6): its failures become
/// <see cref="StoreUnavailableException"/>, at the start of a listing as in its middle.
/// </summary>
internal static class StoreGuard
{
    /// <summary>Awaits one call to the database.</summary>
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

    /// <summary>Reads rows one at a time.</summary>
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
