using System.Text.Json;
using System.Text.Json.Serialization;
using Sluice.Server.Database;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Intake;

/// <summary>A file that a client has written under a passing name.</summary>
/// <param name="Id">Names these bytes and no others: 32 hex digits.</param>
/// <param name="Folder">Its folder below <c>/nzbs</c>.</param>
/// <param name="Name">The passing name.</param>
/// <param name="Start">Where its bytes begin in the file on disk.</param>
/// <param name="Length">How many there are.</param>
/// <param name="Since">When it was whole.</param>
internal sealed record StagedUpload(string Id, string Folder, string Name, int Start, long Length, DateTimeOffset Since);

/// <summary>
/// Staged uploads on disk, one file each: a line that says folder and name as a JSON array, then the bytes as they came. The
/// names of the files are the server's own.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class StagingFolder(DataFolder folder, IBlobFiles files, TimeProvider time, StorageState? state = null)
{
    private const string Suffix = ".upload";

    /// <summary>Longest first line: two names of 255 bytes, each byte escaped.</summary>
    private const int MaxPlace = 4096;

    private readonly DurableFolder _saved = new(folder.Staged, files, state);

    /// <summary>Reads a body to its end and keeps it. When the task completes it is on disk.</summary>
    /// <exception cref="StorageException">It cannot be written.</exception>
    public async Task<StagedUpload> SaveAsync(string queueFolder, string name, Stream body, CancellationToken cancellationToken)
    {
        var id = Guid.NewGuid().ToString("N");
        byte[] place = [.. JsonSerializer.SerializeToUtf8Bytes([queueFolder, name], StagingJson.Default.StringArray), (byte)'\n'];
        _saved.Create();
        try
        {
            var stored = await _saved.SaveAsync(
                async file =>
                {
                    await file.WriteAsync(place, cancellationToken);
                    await body.CopyToAsync(file, cancellationToken);
                    return id + Suffix;
                },
                cancellationToken);
            return new StagedUpload(id, queueFolder, name, place.Length, stored - place.Length, time.WallTime());
        }
        catch
        {
            // It may have its name already, under which the next start would find an upload that was refused.
            _saved.Discard(PathOf(id));
            throw;
        }
    }

    /// <summary>The bytes of an upload from one of them on, or null when they have been removed. The caller disposes the stream.</summary>
    public Stream? Open(StagedUpload upload, long offset)
    {
        try
        {
            var file = _saved.OpenRead(PathOf(upload.Id));
            file.Position = upload.Start + offset;
            return file;
        }
        catch (FileNotFoundException)
        {
            return null;
        }
    }

    /// <summary>Removes the bytes of an upload; streams that are open on them read on.</summary>
    public void Delete(StagedUpload upload) => _saved.Delete(PathOf(upload.Id));

    /// <summary>Uploads of an earlier process, the oldest first. Removes files that were not saved to their end.</summary>
    public IReadOnlyList<StagedUpload> Recover()
    {
        var found = new List<StagedUpload>();
        if (!Directory.Exists(folder.Staged))
            return found;

        foreach (var file in _saved.List())
        {
            var path = file.FullName;
            if (path.EndsWith(DurableFolder.TemporarySuffix, StringComparison.Ordinal))
                _saved.Delete(path);
            else if (path.EndsWith(Suffix, StringComparison.Ordinal) && Read(path, file.LastWriteTimeUtc) is { } upload)
                found.Add(upload);
        }

        return [.. found.OrderBy(upload => upload.Since)];
    }

    /// <summary>Null for a file that was not made here, which is left alone.</summary>
    private StagedUpload? Read(string path, DateTimeOffset changed)
    {
        using var file = _saved.OpenRead(path);
        Span<byte> start = stackalloc byte[MaxPlace];
        start = start[..file.ReadAtLeast(start, MaxPlace, throwOnEndOfStream: false)];
        var end = start.IndexOf((byte)'\n');
        if (end < 0)
            return null;

        try
        {
            return JsonSerializer.Deserialize(start[..end], StagingJson.Default.StringArray) is [var queueFolder, var name]
                ? new StagedUpload(Path.GetFileNameWithoutExtension(path), queueFolder, name, end + 1, file.Length - end - 1, changed)
                : null;
        }
        catch (JsonException)
        {
            return null;
        }
    }

    private string PathOf(string id) => _saved.PathOf(id + Suffix);
}

/// <summary>How the place of an upload stands in JSON, generated at build.</summary>
[JsonSerializable(typeof(string[]))]
internal sealed partial class StagingJson : JsonSerializerContext;
