namespace Sluice.Server.WebDav;

/// <summary>Answers without a body.</summary>
internal static class Refusal
{
    /// <summary>The Retry-After of an answer for lack of room, in seconds.</summary>
    private const string RetryAfterSeconds = "30";

    /// <summary>Sets the status of an answer whose headers are not out, and declares it empty.</summary>
    public static void Write(HttpResponse response, int status)
    {
        response.StatusCode = status;
        if (status is not (StatusCodes.Status204NoContent or StatusCodes.Status304NotModified))
            response.ContentLength = 0;
        if (status == StatusCodes.Status507InsufficientStorage)
            response.Headers.RetryAfter = RetryAfterSeconds;
    }
}
