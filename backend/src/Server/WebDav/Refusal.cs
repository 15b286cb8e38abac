namespace Sluice.Server.WebDav;

/// <summary>Responses without a body.</summary>
internal static class Refusal
{
    /// <summary>Retry-After for a 507 response, in seconds.</summary>
    private const string RetryAfterSeconds = "30";

    /// <summary>Sets the status and declares an empty body. Must be called before the headers are sent.</summary>
    public static void Write(HttpResponse response, int status)
    {
        response.StatusCode = status;
        if (status is not (StatusCodes.Status204NoContent or StatusCodes.Status304NotModified))
            response.ContentLength = 0;
        if (status == StatusCodes.Status507InsufficientStorage)
            response.Headers.RetryAfter = RetryAfterSeconds;
    }
}
