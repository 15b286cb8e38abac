using System.Buffers;
using System.Text;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.WebUtilities;
using Microsoft.Net.Http.Headers;
using Sluice.Server.Auth;
using Sluice.Server.Listening;
using Sluice.Server.Queue.Intake;

namespace Sluice.Server.SabApi;

/// <summary>
/// Reads the body of a call. Checks a key in the query or a header before the first byte. If the key is a form field, the body is limited to the size of
/// anonymous requests until the key arrives (S26), and no file is stored.
/// </summary>
internal sealed class SabBodyReader(SabAccess access, NzbIntake intake)
{
    private const int MaxFields = 256;
    private const int MaxBoundary = 128;
    private const int MaxName = 1 << 10;
    private const int PieceBytes = 4 << 10;

    // Maximum files that wait in memory for their key, across all calls.
    private const int MaxHeldFiles = 32;

    // Limits for one field, and for all fields together. One field must stay below the large-object threshold.
    private const int MaxFieldBytes = 32 << 10;
    private const int MaxFieldsBytes = 64 << 10;

    private static readonly FormOptions Form = new() { ValueCountLimit = MaxFields, KeyLengthLimit = MaxName, ValueLengthLimit = MaxFieldBytes };
    private static readonly string[] FileFields = ["name", "nzbfile", "nzbFile"];

    private int _heldFiles;

    /// <summary>Reads the whole body. Stops early if the call is refused or too slow.</summary>
    /// <returns>The call, with the parameters and the upload in the body.</returns>
    /// <exception cref="InvalidDataException">The body is malformed.</exception>
    /// <exception cref="BadHttpRequestException">The body is too long, or exceeds the limit for requests without a key.</exception>
    public async Task<SabCall> ReadAsync(SabCall call)
    {
        var http = call.Http;
        if (!HttpMethods.IsPost(http.Request.Method)
            || !MediaTypeHeaderValue.TryParse(http.Request.ContentType, out var type))
            return call;

        var isForm = type.MediaType.Equals("application/x-www-form-urlencoded", StringComparison.OrdinalIgnoreCase);
        if (!isForm && !type.MediaType.StartsWith("multipart/", StringComparison.OrdinalIgnoreCase))
            return call;

        var key = await access.VerifyAsync(http, call.Parameters);
        if (!(SabAccess.Opens(key) || key == ApiKeyVerdict.Missing))
            return call with { Key = key };
        if (isForm)
            return await ReadFormAsync(call, key);

        var boundary = HeaderUtilities.RemoveQuotes(type.Boundary).ToString();
        if (boundary.Length is 0 or > MaxBoundary)
            throw new InvalidDataException("The multipart has no usable boundary.");
        return await ReadPartsAsync(call, key, new MultipartReader(boundary, http.Request.Body));
    }

    private async Task<SabCall> ReadFormAsync(SabCall call, ApiKeyVerdict key)
    {
        foreach (var (name, value) in await call.Http.Request.ReadFormAsync(Form, call.Cancelled))
            call.Parameters.Add(name, value);
        return call with { Key = SabAccess.Opens(key) ? key : await access.VerifyAsync(call.Http, call.Parameters) };
    }

    private async Task<SabCall> ReadPartsAsync(SabCall call, ApiKeyVerdict key, MultipartReader parts)
    {
        if (SabAccess.Opens(key))
            call.Http.AllowUpload();
        else
            call.Http.AnnounceUpload();

        (Stream Body, string Name)? early = null;
        var holding = 0;
        try
        {
            var (fields, left) = (0, MaxFieldsBytes);
            while (await ReadNextAsync(parts, call.Cancelled) is { } part)
            {
                if (++fields > MaxFields)
                    throw new InvalidDataException("The multipart has too many parts.");
                if (!ContentDispositionHeaderValue.TryParse(part.ContentDisposition, out var disposition))
                    continue;

                var name = HeaderUtilities.RemoveQuotes(disposition.Name).ToString();
                if (!IsFile(disposition))
                {
                    var (text, length) = await ReadFieldAsync(part.Body, Math.Min(left, MaxFieldBytes), call.Cancelled);
                    left -= length;
                    call.Parameters.Add(name, text);
                    if (key == ApiKeyVerdict.Missing && SabAccess.IsProof(name, call.Parameters))
                        key = await access.VerifyAsync(call.Http, call.Parameters);
                    if (!(SabAccess.Opens(key) || key == ApiKeyVerdict.Missing))
                        break;
                    if (SabAccess.Opens(key))
                        call.Http.AllowUpload();
                    if (SabAccess.Opens(key) && early is { } held)
                        (call, early) = (await TakeAsync(call, held.Body, held.Name), null);
                    continue;
                }

                // An empty file field arrives as a part without a file name.
                if (!FileFields.Contains(name) || FileNameOf(disposition).Length == 0 || call.Upload is not null || early is not null)
                    continue;
                if (!SabAccess.Opens(key))
                {
                    holding = 1;
                    if (Interlocked.Increment(ref _heldFiles) > MaxHeldFiles)
                        return call with { Key = ApiKeyVerdict.Throttled };
                    early = (await HoldAsync(part.Body, call.Cancelled), FileNameOf(disposition));
                    continue;
                }

                call = await TakeAsync(call, part.Body, FileNameOf(disposition));
                // Stop here, because Kestrel returns no more of the body after a canceled read, and the rest may be slow too.
                if (call.Upload?.Refusal == AddRefusal.TooSlow)
                    break;
            }
        }
        catch
        {
            if (call.Upload is { } upload)
                await upload.DisposeAsync();
            throw;
        }
        finally
        {
            Interlocked.Add(ref _heldFiles, -holding);
        }

        return call with { Key = key };
    }

    private async Task<SabCall> TakeAsync(SabCall call, Stream file, string name) => call with
    {
        Upload = await intake.ReceiveAsync(file, call.Http.Request.ContentLength, call.Cancelled),
        UploadName = name,
    };

    /// <summary>Buffers a file that arrives before its key, because some clients send the file first. Limited to the size of anonymous requests.</summary>
    private static async Task<Stream> HoldAsync(Stream file, CancellationToken cancellationToken)
    {
        // Allocate the full size, so that the stream never grows by copying.
        var held = new MemoryStream((int)ProvedRequests.MaxOrdinaryBytes);
        await file.CopyToAsync(held, cancellationToken);
        held.Position = 0;
        return held;
    }

    private static async Task<MultipartSection?> ReadNextAsync(MultipartReader parts, CancellationToken cancellationToken)
    {
        try
        {
            return await parts.ReadNextSectionAsync(cancellationToken);
        }
        catch (IOException e) when (e.GetType() == typeof(IOException))
        {
            // The reader throws this if the body ends before its last boundary.
            throw new InvalidDataException("The multipart breaks off.", e);
        }
    }

    private static bool IsFile(ContentDispositionHeaderValue disposition) =>
        disposition.FileName.HasValue || disposition.FileNameStar.HasValue;

    private static string FileNameOf(ContentDispositionHeaderValue disposition) =>
        disposition.FileNameStar.HasValue ? disposition.FileNameStar.ToString() : HeaderUtilities.RemoveQuotes(disposition.FileName).ToString();

    private static async Task<(string Text, int Length)> ReadFieldAsync(Stream body, int limit, CancellationToken cancellationToken)
    {
        var piece = ArrayPool<byte>.Shared.Rent(PieceBytes);
        try
        {
            using var field = new MemoryStream();
            while (await body.ReadAsync(piece.AsMemory(0, PieceBytes), cancellationToken) is var read and > 0)
            {
                field.Write(piece, 0, read);
                if (field.Length > limit)
                    throw new InvalidDataException("The fields are too long.");
            }

            return (Encoding.UTF8.GetString(field.GetBuffer(), 0, (int)field.Length), (int)field.Length);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(piece);
        }
    }
}
