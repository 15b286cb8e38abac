using System.Text.Json;
using System.Text.Json.Serialization;
using Sluice.Server.Database;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Intake;

/// <summary>A file uploaded under a temporary name.</summary>
/// <param name="Id">32 hex digits, unique per content.</param>
/// <param name="Folder">Folder below <c>/nzbs</c>.</param>
/// <param name="Start">Offset of the content within the stored file.</param>
/// <param name="Length">Length in bytes.</param>
/// <param name="Since">When the upload completed.</param>
internal sealed record StagedUpload(string Id, string Folder, string Name, int Start, long Length, DateTimeOffset Since);

/// <summary>Stores each staged upload as a file: one line with folder and name as a JSON array, then the content. The server chooses the file name.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class StagingFolder(DataFolder folder, IBlobFiles files, TimeProvider time, StorageState? state = null)
{
    private const string Suffix = ".upload";

    /// <summary>Maximum bytes of the first line: two names of 255 bytes with every byte escaped.</summary>
    private const int MaxPlace = 4096;

    private readonly DurableFolder _saved = new(folder.Staged, files, state);

    /// <summary>Reads a body to its end and stores it durably.</summary>
    /// <exception cref="StorageException">The file cannot be written.</exception>
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
            // The file may already have its final name, and the next startup must not recover a failed upload.
            _saved.Discard(PathOf(id));
            throw;
        }
    }

    /// <summary>Opens the content at an offset; null if the upload no longer exists. The caller disposes the stream.</summary>
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

    /// <summary>Deletes an upload. Open streams can still read it.</summary>
    public void Delete(StagedUpload upload) => _saved.Delete(PathOf(upload.Id));

    /// <summary>Returns the uploads of an earlier run, oldest first. Deletes incomplete files.</summary>
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

    /// <summary>Reads the first line; null for a file of another program, which must stay unchanged.</summary>
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

[JsonSerializable(typeof(string[]))]
internal sealed partial class StagingJson : JsonSerializerContext;
