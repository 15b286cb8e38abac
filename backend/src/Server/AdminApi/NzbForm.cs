using System.Buffers;
using System.Text;
using Microsoft.AspNetCore.Http.HttpResults;
using Microsoft.AspNetCore.WebUtilities;
using Microsoft.Net.Http.Headers;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;

namespace Sluice.Server.AdminApi;

/// <summary>
/// The form of an upload (<see cref="QueueUpload"/>). The file is written to blobs as it arrives, so it is never in memory. Fields may come before or after the
/// file. <c>Upload</c> is null if there is a problem.
/// </summary>
internal sealed record NzbForm(NzbUpload? Upload, NzbAddition Addition, JsonHttpResult<Problem>? Problem) : IAsyncDisposable
{
    private const string File = "file";
    private const int MaxBoundary = 128;
    private const int MaxParts = 16;
    private const int MaxFieldBytes = 8 << 10;

    /// <summary>Reads a body to its end, or to the first error.</summary>
    public static async Task<NzbForm> ReadAsync(HttpContext http, NzbIntake intake, CancellationToken cancellationToken)
    {
        var boundary = MediaTypeHeaderValue.TryParse(http.Request.ContentType, out var type) && type.MediaType.Equals("multipart/form-data", StringComparison.OrdinalIgnoreCase)
            ? HeaderUtilities.RemoveQuotes(type.Boundary).ToString()
            : "";
        if (boundary.Length is 0 or > MaxBoundary)
            return Wrong(File, "Send the NZB as a form with a file.");

        var form = new NzbForm(null, new NzbAddition { FileName = "" }, null);
        var reader = new MultipartReader(boundary, http.Request.Body);
        try
        {
            for (var parts = 0; form.Problem is null && await reader.ReadNextSectionAsync(cancellationToken) is { } part; parts++)
                form = parts < MaxParts ? await form.TakeAsync(part, http, intake, cancellationToken) : await form.FailAsync(File, "The form has too many parts.");
            return form is { Problem: null, Upload: null } ? Wrong(File, "There is no file in the form.") : form;
        }
        catch (Exception e) when (e is InvalidDataException or UploadBrokenException || e.GetType() == typeof(IOException))
        {
            // MultipartReader throws a plain IOException if the body ends before its last boundary. Connection faults have derived types.
            return await form.FailAsync(File, "The upload breaks off.");
        }
        catch
        {
            await form.DisposeAsync();
            throw;
        }
    }

    public ValueTask DisposeAsync() => Upload?.DisposeAsync() ?? ValueTask.CompletedTask;

    private static NzbForm Wrong(string field, string sentence) => new(null, new NzbAddition { FileName = "" }, AdminProblem.BadInput(field, sentence));

    private async Task<NzbForm> FailAsync(string field, string sentence)
    {
        await DisposeAsync();
        return Wrong(field, sentence);
    }

    private async Task<NzbForm> TakeAsync(MultipartSection part, HttpContext http, NzbIntake intake, CancellationToken cancellationToken)
    {
        if (!ContentDispositionHeaderValue.TryParse(part.ContentDisposition, out var disposition))
            return this;
        var name = HeaderUtilities.RemoveQuotes(disposition.Name).ToString();
        if (disposition.FileName.HasValue || disposition.FileNameStar.HasValue)
        {
            if (name != File || Upload is not null)
                return await FailAsync(name, "A form has one file, by the name of file.");
            var fileName = disposition.FileNameStar.HasValue ? disposition.FileNameStar.ToString() : HeaderUtilities.RemoveQuotes(disposition.FileName).ToString();
            var upload = await intake.ReceiveAsync(part.Body, http.Request.ContentLength, cancellationToken);
            // Ignore the rest of the form, because Kestrel cannot continue after a canceled read, and the rest may be slow too.
            return this with { Upload = upload, Addition = Addition with { FileName = fileName }, Problem = upload.Refusal is { } refusal ? await RefuseAsync(upload, refusal) : null };
        }

        if (await ReadFieldAsync(part.Body, cancellationToken) is not { } text)
            return await FailAsync(name, "This is too long.");
        return await SetAsync(name, text);
    }

    private async Task<NzbForm> SetAsync(string name, string text)
    {
        switch (name)
        {
            case "category":
                return this with { Addition = Addition with { Category = text } };
            case "name":
                return this with { Addition = Addition with { Name = text.Length == 0 ? null : text } };
            case "password":
                return this with { Addition = Addition with { Password = text } };
            case "priority":
                var words = new ListReader();
                var priority = words.Word<QueuePriority>(name, text);
                return words.Problem is null
                    ? this with { Addition = Addition with { Priority = priority ?? QueuePriority.Normal } }
                    : await FailAsync(name, "This is none of low, normal, high, force.");
            default:
                return await FailAsync(name, "There is no such field.");
        }
    }

    private static async Task<JsonHttpResult<Problem>> RefuseAsync(NzbUpload upload, AddRefusal refusal)
    {
        await upload.DisposeAsync();
        return Refuse(refusal);
    }

    /// <summary>Returns the response for a refused NZB.</summary>
    public static JsonHttpResult<Problem> Refuse(AddRefusal refusal) => refusal switch
    {
        AddRefusal.DiskFull => AdminProblem.Of(StatusCodes.Status507InsufficientStorage, "disk-full", "The disk is full. Free some space and try again."),
        AddRefusal.TooLarge => AdminProblem.Of(StatusCodes.Status413PayloadTooLarge, "too-large", "This NZB is too large."),
        AddRefusal.TooSlow => AdminProblem.Of(StatusCodes.Status408RequestTimeout, "too-slow", "The upload took too long."),
        _ => AdminProblem.Of(StatusCodes.Status507InsufficientStorage, "queue-full", "The queue is full. It accepts more as imports finish."),
    };

    /// <returns>Null if the field is too long.</returns>
    private static async Task<string?> ReadFieldAsync(Stream body, CancellationToken cancellationToken)
    {
        var piece = ArrayPool<byte>.Shared.Rent(MaxFieldBytes + 1);
        try
        {
            var length = await body.ReadAtLeastAsync(piece.AsMemory(0, MaxFieldBytes + 1), MaxFieldBytes + 1, throwOnEndOfStream: false, cancellationToken);
            return length > MaxFieldBytes ? null : Encoding.UTF8.GetString(piece, 0, length);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(piece, clearArray: true);
        }
    }
}
