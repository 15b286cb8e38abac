using System.Buffers;
using Microsoft.Win32.SafeHandles;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Streams.Cache;

/// <summary>The disk cache's files, one per segment; written under a temporary name and then renamed, so a crash leaves no partial file.</summary>
/// <remarks>Thread-safe, except that only one thread at a time may write a key.</remarks>
internal sealed class BlockFiles(string root)
{
    private const string Unfinished = ".tmp";

    /// <summary>Reads a segment's stored blocks. Synchronous: the calling thread waits for the disk.</summary>
    /// <returns>A buffer with only these blocks and one reference; null if there is no file.</returns>
    /// <exception cref="InvalidDataException">The file is malformed or its bytes have changed.</exception>
    /// <exception cref="IOException">The file cannot be read.</exception>
    public SegmentBuffer? Read(DiskKey key, int segmentLength, BlockPool blocks)
    {
        SafeFileHandle file;
        try
        {
            file = File.OpenHandle(PathOf(key), FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
        }
        catch (Exception e) when (e is FileNotFoundException or DirectoryNotFoundException)
        {
            return null;
        }

        var header = ArrayPool<byte>.Shared.Rent(BlockFileHeader.MaxSize);
        SegmentBuffer? buffer = null;
        try
        {
            var count = RandomAccess.Read(file, header.AsSpan(0, BlockFileHeader.MaxSize), 0);
            var stored = BlockFileHeader.Read(header.AsSpan(0, count), RandomAccess.GetLength(file), key, segmentLength)
                ?? throw new InvalidDataException("A file of the segment cache is malformed.");
            buffer = new SegmentBuffer(blocks, segmentLength);
            Fill(buffer, file, stored, segmentLength);
            var whole = buffer;
            buffer = null;
            return whole;
        }
        finally
        {
            buffer?.Release();
            ArrayPool<byte>.Shared.Return(header);
            file.Dispose();
        }
    }

    /// <summary>Writes at least one block of a segment, replaces its file, and returns the file's length. Indexes must ascend.</summary>
    /// <exception cref="IOException">The file cannot be written.</exception>
    /// <exception cref="UnauthorizedAccessException">Permission denied.</exception>
    public async Task<long> WriteAsync(DiskKey key, int segmentLength, IReadOnlyList<int> indexes, Func<int, ReadOnlyMemory<byte>> read)
    {
        var path = PathOf(key);
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        var stored = indexes.Select(index => new StoredBlock(index, Crc32Kernel.Append(0, read(index).Span))).ToArray();
        var header = new byte[BlockFileHeader.SizeFor(stored.Length)];
        BlockFileHeader.Write(header, key, segmentLength, stored);
        var unfinished = path + Unfinished;
        try
        {
            // One gathered write, so that a file costs one system call.
            ReadOnlyMemory<byte>[] all = [header, .. stored.Select(block => read(block.Index))];
            using (var file = File.OpenHandle(unfinished, FileMode.Create, FileAccess.Write))
                await RandomAccess.WriteAsync(file, all, 0);
            File.Move(unfinished, path, overwrite: true);
            return all.Sum(part => (long)part.Length);
        }
        catch
        {
            File.Delete(unfinished);
            throw;
        }
    }

    public void Delete(DiskKey key)
    {
        try
        {
            File.Delete(PathOf(key));
        }
        catch (DirectoryNotFoundException)
        {
            // The folder was emptied, which users may do at any time.
        }
    }

    /// <summary>Lists the folder and deletes unfinished files left by a crash.</summary>
    /// <returns>The files, most recently written first.</returns>
    public List<(DiskKey Key, long Bytes)> Scan()
    {
        var found = new List<(DiskKey Key, long Bytes, DateTime At)>();
        for (var folder = 0; folder < 256; folder++)
        {
            var path = new DirectoryInfo(Path.Combine(root, $"{folder:x2}"));
            if (!path.Exists)
                continue;
            foreach (var file in path.EnumerateFiles())
            {
                if (DiskKey.TryParse(file.Name, out var key) && key.FolderName == path.Name)
                    found.Add((key, file.Length, file.LastWriteTimeUtc));
                else if (file.Name.EndsWith(Unfinished, StringComparison.Ordinal) && DiskKey.TryParse(Path.GetFileNameWithoutExtension(file.Name), out _))
                    file.Delete();
            }
        }

        return [.. found.OrderByDescending(file => file.At).Select(file => (file.Key, file.Bytes))];
    }

    private static void Fill(SegmentBuffer buffer, SafeFileHandle file, StoredBlock[] stored, int segmentLength)
    {
        long at = BlockFileHeader.SizeFor(stored.Length);
        foreach (var block in stored)
        {
            var bytes = buffer.BlockToFill(block.Index).Span[..block.LengthIn(segmentLength)];
            if (TryReadFully(file, bytes, at) && Crc32Kernel.Append(0, bytes) == block.Crc)
                at += bytes.Length;
            else
                throw new InvalidDataException("A block of the segment cache is damaged.");
        }
    }

    private static bool TryReadFully(SafeFileHandle file, Span<byte> bytes, long at)
    {
        while (!bytes.IsEmpty)
        {
            var count = RandomAccess.Read(file, bytes, at);
            if (count == 0)
                return false;
            bytes = bytes[count..];
            at += count;
        }

        return true;
    }

    private string PathOf(DiskKey key) => Path.Combine(root, key.FolderName, key.FileName);
}
