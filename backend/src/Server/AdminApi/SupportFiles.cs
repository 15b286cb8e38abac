using System.Buffers;
using System.IO.Compression;
using System.Text;
using Sluice.Server.Diagnostics;

namespace Sluice.Server.AdminApi;

/// <summary>A text file in the support bundle. Text beyond the maximum length is cut off.</summary>
internal sealed record SupportFile(string Name, IEnumerable<string> Lines, int MaxBytes);

/// <summary>The content of a support bundle, which can be sent once. Every line is redacted once more.</summary>
internal sealed class SupportFiles(IReadOnlyList<SupportFile> files, LogRedactor redactor, DateTimeOffset at)
{
    private const int SendBytes = 64 << 10;

    private static readonly byte[] Cut = "(cut)\n"u8.ToArray();

    /// <summary>Writes the zip file while creating it, so that the whole file is never in memory.</summary>
    public async Task WriteAsync(Stream to, CancellationToken cancellationToken)
    {
        var made = new MadeBytes();
        using (var zip = new ZipArchive(made, ZipArchiveMode.Create, leaveOpen: true))
        {
            foreach (var file in files)
            {
                var entry = zip.CreateEntry(file.Name, CompressionLevel.Fastest);
                entry.LastWriteTime = at;
                using var content = entry.Open();
                foreach (var line in Fit(file))
                {
                    content.Write(line);
                    if (made.Count >= SendBytes)
                        await made.SendAsync(to, cancellationToken);
                }
            }
        }

        await made.SendAsync(to, cancellationToken);
    }

    private IEnumerable<byte[]> Fit(SupportFile file)
    {
        var left = file.MaxBytes - Cut.Length;
        foreach (var line in file.Lines)
        {
            var bytes = Encoding.UTF8.GetBytes(redactor.Redact(line.ReplaceLineEndings(" ")) + "\n");
            if ((left -= bytes.Length) < 0)
            {
                yield return Cut;
                yield break;
            }

            yield return bytes;
        }
    }

    /// <summary>Holds written bytes until they are sent, because zip files can be created only by synchronous writes, which responses do not support.</summary>
    private sealed class MadeBytes : Stream
    {
        private readonly ArrayBufferWriter<byte> _made = new(2 * SendBytes);

        public int Count => _made.WrittenCount;

        public override bool CanRead => false;

        public override bool CanSeek => false;

        public override bool CanWrite => true;

        public override long Length => throw new NotSupportedException();

        public override long Position
        {
            get => throw new NotSupportedException();
            set => throw new NotSupportedException();
        }

        public async Task SendAsync(Stream to, CancellationToken cancellationToken)
        {
            await to.WriteAsync(_made.WrittenMemory, cancellationToken);
            _made.ResetWrittenCount();
        }

        public override void Write(ReadOnlySpan<byte> buffer) => _made.Write(buffer);

        public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

        public override void Flush()
        {
            // SendAsync sends the bytes.
        }

        public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();
    }
}
