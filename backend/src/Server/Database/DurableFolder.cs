namespace Sluice.Server.Database;

/// <summary>
/// Saves files so that a name is there only once what it stands for is on disk (IMP-2): write a temporary file, fsync it,
/// rename it, fsync the folder. A kill in between leaves a temporary file and nothing else.
/// </summary>
/// <remarks>Thread-safe.</remarks>
/// <param name="path">The folder; absolute.</param>
/// <param name="files">The file system.</param>
internal sealed class DurableFolder(string path, IBlobFiles files)
{
    /// <summary>Ends the names of files that were not saved to their end.</summary>
    public const string TemporarySuffix = ".tmp";

    /// <summary>Saves a file. When the task completes it is on disk under its name, in place of one that had it.</summary>
    /// <param name="write">Writes the content and gives the name, which it may know only then.</param>
    /// <param name="cancellationToken">Gives up and removes what was written.</param>
    /// <returns>Bytes on disk.</returns>
    /// <exception cref="DiskFullException">There is no room.</exception>
    public async Task<long> SaveAsync(Func<Stream, Task<string>> write, CancellationToken cancellationToken)
    {
        var temporary = PathOf(Guid.NewGuid().ToString("N") + TemporarySuffix);
        try
        {
            string name;
            long length;
            await using (var file = files.Create(temporary))
            {
                name = await write(file);
                await file.FlushAsync(cancellationToken);
                length = file.Length;
                files.SyncFile(file);
            }

            files.Rename(temporary, PathOf(name));
            files.SyncFolder(path);
            return length;
        }
        catch (Exception e)
        {
            files.Delete(temporary);
            if (e is IOException failure && DiskFullException.IsCauseOf(failure))
                throw new DiskFullException(e);

            throw;
        }
    }

    /// <summary>The path of a name in the folder.</summary>
    public string PathOf(string name) => Path.Combine(path, name);
}
