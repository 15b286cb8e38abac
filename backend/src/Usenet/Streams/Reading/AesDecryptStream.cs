using System.Buffers;
using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>
/// A file that was posted encrypted, decrypted while it is read. In CBC mode a block is decrypted with the cipher text of the block before
/// it, so that reading may begin at any block, at the cost of the one before: of one article more at most.
/// </summary>
/// <remarks>
/// For one reader at a time. Its bytes are as proved as those of the stream below it: the last byte of a range lies in the last block that is
/// asked for, which that stream gives out only when nothing is owed.
/// </remarks>
internal sealed class AesDecryptStream : ReadOnlyStream
{
    private const int Block = StreamCipher.BlockLength;
    private const int SpanLength = 64 << 10;

    private readonly ReadOnlyStream _inner;
    private readonly Aes _aes = Aes.Create();
    private readonly byte[] _iv;
    private readonly int _skip;
    private readonly long _end;
    private readonly byte[] _cipherText = ArrayPool<byte>.Shared.Rent(SpanLength);
    private ICryptoTransform _decryptor;
    private PlainText _plainText = new();
    private long _position;

    // Offsets from here on are those of the text, in which the file begins behind the bytes that are skipped. The plain text that is held: from
    // _begin to before _next, of which _begin lies at this offset of the array.
    private long _begin;
    private int _beginAt;

    // Cipher text from here on is not decrypted yet; so many bytes of it, less than a block, have been read. What its first bytes are
    // decrypted to is of no use where decrypting begins in the middle.
    private long _next;
    private int _carried;
    private int _useless;

    /// <param name="inner">The cipher text, for the range that <see cref="CipherRange"/> gives; owned.</param>
    /// <param name="cipher">What decrypts it.</param>
    /// <param name="length">Length of the file, decrypted.</param>
    /// <param name="position">Where reading begins.</param>
    /// <param name="end">Offset behind the last byte that will be asked for.</param>
    public AesDecryptStream(ReadOnlyStream inner, StreamCipher cipher, long length, long position, long end)
    {
        _inner = inner;
        Length = length;
        _skip = cipher.Skip;
        _end = end;
        _iv = cipher.Iv.ToArray();
        _aes.Key = cipher.Key.ToArray();
        _aes.Mode = CipherMode.CBC;
        _aes.Padding = PaddingMode.None;
        _decryptor = _aes.CreateDecryptor(_aes.Key, _iv);
        _position = position;
    }

    /// <summary>Bytes of the whole file, decrypted, whatever range was asked for.</summary>
    public override long Length { get; }

    /// <inheritdoc/>
    public override long Position
    {
        get => _position;
        set
        {
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            _position = value;
        }
    }

    private long TextPosition => _position + _skip;

    /// <summary>The cipher text that a range of a file is decrypted from.</summary>
    public static (long From, long To) CipherRange(StreamCipher cipher, long position, long end) =>
        (StartOf(position + cipher.Skip), StreamCipher.Padded(end + cipher.Skip));

    /// <inheritdoc/>
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        var count = await DecryptAsync(buffer.Length, cancellationToken);
        Held(count).AsMemory().CopyTo(buffer);
        _position += count;
        return count;
    }

    /// <inheritdoc/>
    public override async ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken)
    {
        var count = await DecryptAsync(most, cancellationToken);
        if (count > 0)
            loan.Add(_plainText, Held(count));
        _position += count;
        return count;
    }

    /// <inheritdoc/>
    public override void HintSeek(long position)
    {
        if (position >= 0 && position < _end)
            _inner.HintSeek(StartOf(position + _skip));
    }

    /// <inheritdoc/>
    public override void WatchProof(Action headArrived) => _inner.WatchProof(headArrived);

    /// <inheritdoc/>
    /// <remarks>Offsets are those of the cipher text, which begins some bytes before the file at most.</remarks>
    public override StreamSnapshot? Look() => _inner.Look();

    /// <inheritdoc/>
    protected override async ValueTask CloseAsync()
    {
        try
        {
            await _inner.DisposeAsync();
        }
        finally
        {
            _decryptor.Dispose();
            _aes.Dispose();
            ArrayPool<byte>.Shared.Return(_cipherText);
            _plainText.Release();
        }
    }

    // The block before the one of a position; the first block needs none.
    private static long StartOf(long position) => Math.Max(0, position / Block * Block - Block);

    private ArraySegment<byte> Held(int count) => new(_plainText.Bytes, _beginAt + (int)(TextPosition - _begin), count);

    /// <summary>Sees to it that plain text of the position is held.</summary>
    /// <returns>How many bytes of it may be taken: no more than wanted; 0 at the end only.</returns>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> DecryptAsync(int wanted, CancellationToken cancellationToken)
    {
        if (_position >= _end || wanted == 0)
            return 0;
        if (TextPosition < _begin || TextPosition > _next)
            MoveTo(TextPosition);
        while (TextPosition >= _next)
            await DecryptNextAsync(cancellationToken);
        return (int)Math.Min(wanted, Math.Min(_next, _end + _skip) - TextPosition);
    }

    /// <summary>Goes on at another block, by way of the one before it, whose cipher text it needs.</summary>
    private void MoveTo(long position)
    {
        var start = StartOf(position);
        if (start == 0)
        {
            _decryptor.Dispose();
            _decryptor = _aes.CreateDecryptor(_aes.Key, _iv);
        }

        _inner.Position = start;
        (_begin, _next, _carried, _useless) = (start, start, 0, start == 0 ? 0 : Block);
    }

    private async ValueTask DecryptNextAsync(CancellationToken cancellationToken)
    {
        var read = await _inner.ReadAsync(_cipherText.AsMemory(_carried, SpanLength - _carried), cancellationToken);
        if (read == 0)
            throw new EndOfStreamException("The encrypted file is shorter than it has to be.");
        _carried += read;
        var whole = _carried / Block * Block;
        if (whole == 0)
            return;

        // A connection may still send what is held, and gives it back on a thread of its own.
        if (_plainText.IsLent)
        {
            _plainText.Release();
            _plainText = new PlainText();
        }

        _decryptor.TransformBlock(_cipherText, 0, whole, _plainText.Bytes, 0);
        _cipherText.AsSpan(whole, _carried - whole).CopyTo(_cipherText);
        (_begin, _beginAt) = (_next + _useless, _useless);
        _next += whole;
        _carried -= whole;
        _useless = 0;
    }

    /// <summary>Memory for plain text, which goes back to the pool when neither the stream nor a loan has it any more.</summary>
    private sealed class PlainText : ILender
    {
        private int _references = 1;

        public byte[] Bytes { get; } = ArrayPool<byte>.Shared.Rent(SpanLength);

        public bool IsLent => Volatile.Read(ref _references) > 1;

        public void Lend(byte[] block) => Interlocked.Increment(ref _references);

        public void TakeBack(byte[] block) => Release();

        public void Release()
        {
            if (Interlocked.Decrement(ref _references) == 0)
                ArrayPool<byte>.Shared.Return(Bytes);
        }
    }
}
