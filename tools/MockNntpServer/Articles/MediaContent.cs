using Sluice.Tools.MockNntpServer.Layouts;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>Content of a posted file other than purely synthetic content: a real file or a generated archive. Immutable and thread-safe.</summary>
public sealed class MediaContent
{
    private MediaContent(string name, MockBytes bytes)
    {
        Name = name;
        Bytes = bytes;
    }

    /// <summary>File name without folder, as a poster would write it.</summary>
    public string Name { get; }

    public MockBytes Bytes { get; }

    public long Length => Bytes.Length;

    /// <summary>Serves a file from disk, which must not change while it is served.</summary>
    public static MediaContent FromFile(string path) => new(Path.GetFileName(path), new DiskBytes(path));

    /// <summary>Serves bytes from memory, which must not change while they are served.</summary>
    public static MediaContent FromBytes(string name, ReadOnlyMemory<byte> bytes) => new(name, MockBytes.Of(bytes));

    public static MediaContent Of(string name, MockBytes bytes) => new(name, bytes);

    /// <exception cref="EndOfStreamException">The range extends past the end of the file.</exception>
    public void Fill(long offset, Span<byte> destination) => Bytes.Fill(offset, destination);

    private sealed class DiskBytes(string path) : MockBytes(new FileInfo(path).Length)
    {
        protected override void Compute(long offset, Span<byte> destination)
        {
            using var handle = File.OpenHandle(path);
            while (!destination.IsEmpty)
            {
                var read = RandomAccess.Read(handle, destination, offset);
                if (read == 0)
                    throw new EndOfStreamException($"{path} ends at {offset}.");
                destination = destination[read..];
                offset += read;
            }
        }
    }
}
