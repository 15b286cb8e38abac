using System.Security.Cryptography;

namespace Sluice.Usenet.Archives;

/// <summary>Reads the headers of one RAR volume and decrypts them if necessary.</summary>
/// <remarks>An encrypted header follows an 8-byte salt (RAR 4) or a 16-byte vector (RAR 5), and is padded to blocks of 16. Not thread-safe.</remarks>
internal sealed class RarHeaderReader(HeaderWindow window, ArchiveFormat format, RarPasswords passwords)
{
    private const int CipherBlock = 16;
    private const int Rar4SaltLength = 8;

    // Null while headers are plain.
    private RarEncryption? _encryption;

    // Set once a header of this volume was decrypted, so that no other password is tried.
    private string? _password;

    /// <summary>Treats all further headers as encrypted.</summary>
    /// <exception cref="ArchiveException">A check value exists and no password matches it.</exception>
    public async ValueTask EncryptAsync(RarEncryption encryption, CancellationToken cancellationToken)
    {
        _encryption = encryption;
        if (!encryption.Check.IsEmpty)
            _password = await passwords.SearchAsync(() => Task.FromResult(passwords.Decide(encryption)), cancellationToken);
    }

    /// <returns>The header, its length, and the offset after it including padding.</returns>
    /// <exception cref="ArchiveException">The header is damaged, cannot be decrypted, or exceeds the budget.</exception>
    public async ValueTask<(RarBlock Block, int Length, long End)> ReadAsync(long offset, CancellationToken cancellationToken)
    {
        window.Budget.TakeSteps();
        if (_encryption is null)
            return await ReadPlainAsync(offset, cancellationToken);
        return _password is null
            ? await passwords.SearchAsync(() => ReadEncryptedAsync(offset, cancellationToken), cancellationToken)
            : await ReadEncryptedAsync(offset, cancellationToken);
    }

    private async ValueTask<(RarBlock Block, int Length, long End)> ReadPlainAsync(long offset, CancellationToken cancellationToken)
    {
        var start = await window.ReadAsync(offset, Rar5Block.StartLength, cancellationToken);
        if (!TryMeasure(start.Span, out var length))
            throw Damaged();

        var rest = await window.ReadAsync(offset + start.Length, length - start.Length, cancellationToken);
        byte[] header = [.. start.Span, .. rest.Span];
        return IsSound(header) ? (Parse(header), length, offset + length) : throw Damaged();
    }

    private async Task<(RarBlock Block, int Length, long End)> ReadEncryptedAsync(long offset, CancellationToken cancellationToken)
    {
        var prefix = await window.ReadAsync(offset, format == ArchiveFormat.Rar4 ? Rar4SaltLength : CipherBlock, cancellationToken);
        var text = offset + prefix.Length;
        var start = await window.ReadAsync(text, CipherBlock, cancellationToken);
        foreach (var password in _password is null ? passwords.Candidates : [_password])
        {
            using var aes = Cipher(prefix, password, out var iv);
            var opened = aes.DecryptCbc(start.Span, iv, PaddingMode.None);
            if (!TryMeasure(opened, out var length) || !MayBeHeader(opened) || Padded(length) > window.Length - text)
                continue;

            var rest = await window.ReadAsync(text + CipherBlock, Padded(length) - CipherBlock, cancellationToken);
            byte[] header = [.. opened, .. aes.DecryptCbc(rest.Span, start.Span, PaddingMode.None)];
            if (!IsSound(header.AsSpan(0, length)))
                continue;
            passwords.Settle(_password = password);
            return (Parse(header.AsSpan(0, length)), length, text + Padded(length));
        }

        throw _password is null ? RarPasswords.NoneFits() : Damaged();
    }

    private Aes Cipher(ReadOnlyMemory<byte> prefix, string password, out ReadOnlySpan<byte> iv)
    {
        var isRar4 = format == ArchiveFormat.Rar4;
        var encryption = isRar4 ? _encryption! with { Salt = Convert.ToHexString(prefix.Span) } : _encryption!;
        var key = passwords.KeyOf(encryption, password);
        iv = isRar4 ? key.Iv.Span : prefix.Span;
        var aes = Aes.Create();
        aes.SetKey(key.Key.Span);
        return aes;
    }

    private static int Padded(int length) => (length + CipherBlock - 1) & -CipherBlock;

    private bool TryMeasure(ReadOnlySpan<byte> start, out int length) =>
        format == ArchiveFormat.Rar4 ? Rar4Block.TryMeasure(start, out length) : Rar5Block.TryMeasure(start, out length);

    private bool MayBeHeader(ReadOnlySpan<byte> start) =>
        format == ArchiveFormat.Rar4 ? Rar4Block.MayBeEncrypted(start) : Rar5Block.MayBeEncrypted(start, isFirst: _password is null);

    private bool IsSound(ReadOnlySpan<byte> header) => format == ArchiveFormat.Rar4 ? Rar4Block.IsSound(header) : Rar5Block.IsSound(header);

    private RarBlock Parse(ReadOnlySpan<byte> header) => format == ArchiveFormat.Rar4 ? Rar4Block.Parse(header) : Rar5Block.Parse(header);

    private static ArchiveException Damaged() => new(ArchiveFault.Broken, "a header is damaged");
}
